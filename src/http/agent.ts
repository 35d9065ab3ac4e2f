/** Owns the User-Agent rule: a client names itself, and default names of command-line tools are blocked. Pure. */

export interface AgentRule {
  /** Blocked prefixes, compared without case. */
  readonly blocked: readonly string[];
  readonly allowMissing: boolean;
}

const EXEMPT_PATHS = new Set(['/health', '/ready', '/metrics']);

/** Makes the check of a rule: true when a request of this path and User-Agent is blocked. */
export function createAgentCheck(rule: AgentRule): (path: string, agent: string | undefined) => boolean {
  const blocked = rule.blocked.map((prefix) => prefix.toLowerCase());
  return (path, agent) => {
    if (EXEMPT_PATHS.has(path) || path.startsWith('/.well-known/')) return false;
    const name = agent?.trim().toLowerCase() ?? '';
    if (name === '') return !rule.allowMissing;
    return blocked.some((prefix) => name.startsWith(prefix));
  };
}
