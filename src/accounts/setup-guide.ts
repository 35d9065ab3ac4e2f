/** Owns what a client is told to paste to connect to this hub. Pure; the README says the same. */

export const setupClients = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'http'] as const;

export type SetupClient = (typeof setupClients)[number];

export interface SetupStep {
  readonly client: SetupClient;
  readonly title: string;
  /** Where it goes: a file, or the shell. */
  readonly where: string;
  readonly paste: string;
}

const KEY = '<MCP key>';

/** The steps for one client, or for all of them. */
export function setupSteps(baseUrl: string, client?: SetupClient): SetupStep[] {
  const url = `${baseUrl}/api/mcp`;
  const all: SetupStep[] = [
    {
      client: 'claude-code',
      title: 'Claude Code',
      where: 'in a shell',
      paste: `claude mcp add --transport http cairn ${url} --header "Authorization: McpKey ${KEY}"`,
    },
    {
      client: 'claude-desktop',
      title: 'Claude Desktop',
      where: 'claude_desktop_config.json',
      paste: settings({
        mcpServers: {
          cairn: { command: 'npx', args: ['-y', 'mcp-remote', url, '--header', `Authorization: McpKey ${KEY}`] },
        },
      }),
    },
    {
      client: 'cursor',
      title: 'Cursor',
      where: '~/.cursor/mcp.json',
      paste: settings({ mcpServers: { cairn: { url, headers: { Authorization: `McpKey ${KEY}` } } } }),
    },
    {
      client: 'vscode',
      title: 'VS Code',
      where: '.vscode/mcp.json',
      paste: settings({ servers: { cairn: { type: 'http', url, headers: { Authorization: `McpKey ${KEY}` } } } }),
    },
    {
      client: 'http',
      title: 'Plain HTTP',
      where: 'in a shell',
      paste: [
        `curl -sS -A my-tool/1 ${url}`,
        `  -H 'Content-Type: application/json' -H 'Authorization: McpKey ${KEY}'`,
        `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tasks","arguments":{}}}'`,
      ].join(' \\\n'),
    },
  ];
  return client === undefined ? all : all.filter((step) => step.client === client);
}

function settings(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
