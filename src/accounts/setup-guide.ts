/**
 * Generates what to paste to connect a client to this hub: by signing in with a browser where the client can, with a key as the
 * second way. Pure; the manual shows the same.
 */
import { isPublicHost } from '../common/public-address.ts';

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
  /** The second way, where the first one signs in by browser. */
  readonly with_key?: { readonly where: string; readonly paste: string };
}

const KEY = '<MCP key>';

/** Address and features of a hub. */
export interface SetupHub {
  readonly baseUrl: string;
  /** True when clients can discover the browser sign-in at `/mcp`. */
  readonly offersSignIn: boolean;
}

/** One way to connect a client. */
interface Way {
  readonly where: string;
  readonly paste: string;
}

/** The ways of one client. */
interface Ways {
  readonly client: SetupClient;
  readonly title: string;
  /** By browser; undefined: the client cannot. */
  readonly signIn?: Way;
  /** With a key; undefined: the client takes none. */
  readonly key?: Way;
}

/**
 * Returns the steps for one client, or for all. The way by browser comes first where client and hub offer it, unless `freshKey`, a
 * key made just now, is to be pasted.
 */
export function setupSteps(hub: SetupHub, client?: SetupClient, freshKey?: string): SetupStep[] {
  const key = freshKey ?? KEY;
  const all = [...terminalClients(hub, key), ...connectors(hub), ...editors(hub, key), plainHttp(hub, key)];
  return setupClients
    .filter((name) => client === undefined || name === client)
    .flatMap((name) => all.filter((one) => one.client === name))
    .flatMap((one) => stepOf(one, hub.offersSignIn, freshKey !== undefined));
}

function stepOf(ways: Ways, offersSignIn: boolean, prefersKey: boolean): SetupStep[] {
  const { client, title, key } = ways;
  const signIn = offersSignIn || key === undefined ? ways.signIn : undefined;
  if (signIn === undefined || (prefersKey && key !== undefined))
    return key === undefined ? [] : [{ client, title, ...key }];
  return [{ client, title, ...signIn, ...(key === undefined ? {} : { with_key: key }) }];
}

function terminalClients({ baseUrl }: SetupHub, key: string): Ways[] {
  const url = `${baseUrl}/api/mcp`;
  const door = `${baseUrl}/mcp`;
  return [
    {
      client: 'claude-code',
      title: 'Claude Code',
      signIn: {
        where: 'in a shell',
        paste: `claude mcp add --transport http cairn ${door} && claude mcp login cairn`,
      },
      key: {
        where: 'in a shell',
        paste: `claude mcp add --transport http cairn ${url} --header "Authorization: McpKey ${key}"`,
      },
    },
    {
      client: 'codex',
      title: 'Codex CLI',
      signIn: { where: 'in a shell', paste: `codex mcp add cairn --url ${door}` },
      key: {
        where: '~/.codex/config.toml',
        paste: `[mcp_servers.cairn]\nurl = "${url}"\nhttp_headers = { "Authorization" = "McpKey ${key}" }`,
      },
    },
    {
      client: 'gemini',
      title: 'Gemini CLI',
      signIn: {
        where: '~/.gemini/settings.json, then /mcp auth cairn in Gemini',
        paste: settings({ mcpServers: { cairn: { httpUrl: door } } }),
      },
      key: {
        where: '~/.gemini/settings.json',
        paste: settings({ mcpServers: { cairn: { httpUrl: url, headers: headers(key) } } }),
      },
    },
  ];
}

/** Connectors of web applications run on the vendor's machines: they reach only public hubs, and sign in by browser. */
function connectors({ baseUrl, offersSignIn }: SetupHub): Ways[] {
  const paste = (name: string) => connectorFault(name, baseUrl, offersSignIn) ?? `${baseUrl}/mcp`;
  return [
    {
      client: 'claude-ai',
      title: 'claude.ai connector',
      signIn: {
        where: 'claude.ai: Customize (or Settings), Connectors, Add custom connector',
        paste: paste('claude.ai'),
      },
    },
    {
      client: 'chatgpt',
      title: 'ChatGPT',
      signIn: { where: 'ChatGPT in a browser: Plugins, +, Add custom MCP server', paste: paste('ChatGPT') },
    },
  ];
}

/** Why a web application cannot use this hub, and what to do; undefined: it can. */
function connectorFault(name: string, baseUrl: string, offersSignIn: boolean): string | undefined {
  const { protocol, hostname, host } = new URL(baseUrl);
  if (protocol !== 'https:' || !isPublicHost(hostname)) {
    return `${name} cannot reach ${host}: it connects from its own servers. The hub needs a public https address in CAIRN_PUBLIC_URL. Until then, use a client on your machine, for example Claude Code or Codex CLI.`;
  }
  if (!offersSignIn) {
    return `${name} signs in by browser, which this hub does not offer. Ask the operator to set CAIRN_OAUTH_METADATA=on.`;
  }
  return undefined;
}

function editors({ baseUrl }: SetupHub, key: string): Ways[] {
  const url = `${baseUrl}/api/mcp`;
  const door = `${baseUrl}/mcp`;
  const remote = { url, headers: headers(key) };
  /** A file that takes an address alone, or an address with a key. */
  const file = (where: string, signIn: object, withKey: object) => ({
    signIn: { where, paste: settings(signIn) },
    key: { where, paste: settings(withKey) },
  });
  return [
    {
      client: 'claude-desktop',
      title: 'Claude Desktop',
      ...file(
        'claude_desktop_config.json',
        { mcpServers: { cairn: remoteBridge(door) } },
        { mcpServers: { cairn: remoteBridge(url, key) } },
      ),
    },
    {
      client: 'cursor',
      title: 'Cursor',
      ...file('~/.cursor/mcp.json', { mcpServers: { cairn: { url: door } } }, { mcpServers: { cairn: remote } }),
    },
    {
      client: 'vscode',
      title: 'VS Code',
      ...file(
        '.vscode/mcp.json',
        { servers: { cairn: { type: 'http', url: door } } },
        { servers: { cairn: { type: 'http', ...remote } } },
      ),
    },
    {
      client: 'windsurf',
      title: 'Windsurf',
      ...file(
        '~/.codeium/windsurf/mcp_config.json',
        { mcpServers: { cairn: { serverUrl: door } } },
        { mcpServers: { cairn: { serverUrl: url, headers: headers(key) } } },
      ),
    },
    {
      client: 'zed',
      title: 'Zed',
      ...file(
        '~/.config/zed/settings.json',
        { context_servers: { cairn: { url: door } } },
        { context_servers: { cairn: remote } },
      ),
    },
  ];
}

/**
 * mcp-remote signs in by browser unless it is given a key. It breaks header values with spaces on Windows, and needs a flag for
 * plain http to another machine.
 */
function remoteBridge(url: string, key?: string) {
  const { protocol, hostname } = new URL(url);
  const isPlain = protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const header = key === undefined ? [] : ['--header', `Authorization:\${CAIRN_AUTHORIZATION}`];
  return {
    command: 'npx',
    args: ['-y', 'mcp-remote', url, ...header, ...(isPlain ? ['--allow-http'] : [])],
    ...(key === undefined ? {} : { env: { CAIRN_AUTHORIZATION: `McpKey ${key}` } }),
  };
}

function plainHttp({ baseUrl }: SetupHub, key: string): Ways {
  return {
    client: 'http',
    title: 'Plain HTTP',
    key: {
      where: 'in a shell',
      paste: [
        `curl -sS -A my-tool/1 ${baseUrl}/api/mcp`,
        `  -H 'Content-Type: application/json' -H 'Authorization: McpKey ${key}'`,
        `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tasks","arguments":{}}}'`,
      ].join(' \\\n'),
    },
  };
}

function headers(key: string) {
  return { Authorization: `McpKey ${key}` };
}

function settings(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
