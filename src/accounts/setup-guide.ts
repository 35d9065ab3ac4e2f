/** Generates the configuration to paste when connecting a client to this hub. Pure; the manual shows the same. */

export const setupClients = [
  'claude-code',
  'claude-desktop',
  'claude-ai',
  'chatgpt',
  'cursor',
  'vscode',
  'codex',
  'gemini',
  'windsurf',
  'zed',
  'http',
] as const;

export type SetupClient = (typeof setupClients)[number];

export interface SetupStep {
  readonly client: SetupClient;
  readonly title: string;
  /** Where to paste it: a file, a shell, or a dialog. */
  readonly where: string;
  readonly paste: string;
}

const KEY = '<MCP key>';

/** Address and features of a hub. */
export interface SetupHub {
  readonly baseUrl: string;
  /** True when clients can discover the browser sign-in at `/mcp`. */
  readonly offersSignIn: boolean;
}

/** Returns the steps for one client, or for all. `key` is inserted into the texts; default: a placeholder. */
export function setupSteps(hub: SetupHub, client?: SetupClient, key = KEY): SetupStep[] {
  const all = [...terminalSteps(hub, key), ...connectorSteps(hub), ...editorSteps(hub, key), httpStep(hub, key)];
  return setupClients
    .filter((name) => client === undefined || name === client)
    .flatMap((name) => all.filter((step) => step.client === name));
}

function terminalSteps({ baseUrl }: SetupHub, key: string): SetupStep[] {
  const url = `${baseUrl}/api/mcp`;
  return [
    {
      client: 'claude-code',
      title: 'Claude Code',
      where: 'in a shell',
      paste: `claude mcp add --transport http cairn ${url} --header "Authorization: McpKey ${key}"`,
    },
    {
      client: 'codex',
      title: 'Codex CLI',
      where: '~/.codex/config.toml',
      paste: `[mcp_servers.cairn]\nurl = "${url}"\nhttp_headers = { "Authorization" = "McpKey ${key}" }`,
    },
    {
      client: 'gemini',
      title: 'Gemini CLI',
      where: '~/.gemini/settings.json',
      paste: settings({ mcpServers: { cairn: { httpUrl: url, headers: headers(key) } } }),
    },
  ];
}

/** Connectors of web applications reach only public hubs and sign in by browser. */
function connectorSteps({ baseUrl, offersSignIn }: SetupHub): SetupStep[] {
  const paste = offersSignIn
    ? `${baseUrl}/mcp`
    : 'This client needs a public https address, and this hub has none. Ask the operator to set CAIRN_PUBLIC_URL.';
  return [
    {
      client: 'claude-ai',
      title: 'claude.ai connector',
      where: 'claude.ai: Customize (or Settings), Connectors, Add custom connector',
      paste,
    },
    { client: 'chatgpt', title: 'ChatGPT', where: 'ChatGPT in a browser: Plugins, +, Add custom MCP server', paste },
  ];
}

function editorSteps({ baseUrl }: SetupHub, key: string): SetupStep[] {
  const url = `${baseUrl}/api/mcp`;
  const remote = { url, headers: headers(key) };
  return [
    {
      client: 'claude-desktop',
      title: 'Claude Desktop',
      where: 'claude_desktop_config.json',
      paste: settings({ mcpServers: { cairn: remoteBridge(url, key) } }),
    },
    {
      client: 'cursor',
      title: 'Cursor',
      where: '~/.cursor/mcp.json',
      paste: settings({ mcpServers: { cairn: remote } }),
    },
    {
      client: 'vscode',
      title: 'VS Code',
      where: '.vscode/mcp.json',
      paste: settings({ servers: { cairn: { type: 'http', ...remote } } }),
    },
    {
      client: 'windsurf',
      title: 'Windsurf',
      where: '~/.codeium/windsurf/mcp_config.json',
      paste: settings({ mcpServers: { cairn: { serverUrl: url, headers: headers(key) } } }),
    },
    {
      client: 'zed',
      title: 'Zed',
      where: '~/.config/zed/settings.json',
      paste: settings({ context_servers: { cairn: remote } }),
    },
  ];
}

/** mcp-remote breaks header values with spaces on Windows, and needs a flag for plain http to another machine. */
function remoteBridge(url: string, key: string) {
  const { protocol, hostname } = new URL(url);
  const isPlain = protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const header = ['--header', `Authorization:\${CAIRN_AUTHORIZATION}`];
  return {
    command: 'npx',
    args: ['-y', 'mcp-remote', url, ...header, ...(isPlain ? ['--allow-http'] : [])],
    env: { CAIRN_AUTHORIZATION: `McpKey ${key}` },
  };
}

function httpStep({ baseUrl }: SetupHub, key: string): SetupStep {
  return {
    client: 'http',
    title: 'Plain HTTP',
    where: 'in a shell',
    paste: [
      `curl -sS -A my-tool/1 ${baseUrl}/api/mcp`,
      `  -H 'Content-Type: application/json' -H 'Authorization: McpKey ${key}'`,
      `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tasks","arguments":{}}}'`,
    ].join(' \\\n'),
  };
}

function headers(key: string) {
  return { Authorization: `McpKey ${key}` };
}

function settings(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
