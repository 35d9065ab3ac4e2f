/**
 * Enforces the User-Agent rule: clients must name themselves, and default names of command-line tools are blocked.
 * Pure.
 */

export interface AgentRule {
  /** Blocked prefixes, compared without case. */
  readonly blocked: readonly string[];
  readonly allowMissing: boolean;
}

/** Probes, and the door where MCP clients sign in: several official SDKs send no User-Agent, or the default of a library. */
const EXEMPT_PATHS = new Set(['/health', '/ready', '/metrics', '/mcp']);
const EXEMPT_FOLDERS = ['/.well-known/', '/oauth/'];

/** True where the rule does not apply. */
export function acceptsAnyAgent(path: string): boolean {
  return EXEMPT_PATHS.has(path) || EXEMPT_FOLDERS.some((folder) => path.startsWith(folder));
}

/** Creates the check of a rule. It returns true when a request with this path and User-Agent is blocked. */
export function createAgentCheck(rule: AgentRule): (path: string, agent: string | undefined) => boolean {
  const prefixes = rule.blocked.map((prefix) => prefix.replace(/[^A-Za-z0-9]/g, '\\$&'));
  // One expression, because every request is checked. Without prefixes it must match nothing.
  const blocked = new RegExp(prefixes.length === 0 ? '(?!)' : `^(?:${prefixes.join('|')})`, 'i');
  return (path, agent) => {
    if (acceptsAnyAgent(path)) return false;
    const name = agent?.trim() ?? '';
    if (name === '') return !rule.allowMissing;
    return blocked.test(name);
  };
}
