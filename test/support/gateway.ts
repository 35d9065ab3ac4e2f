/** Speaks to the tool gateway and its REST mirror: JSON-RPC messages, tool calls, what MCP adds to a message. */
import { control } from './control.ts';
import { type Answer, call } from './http.ts';
import type { Hub } from './hub.ts';

type Target = Pick<Hub, 'url'>;
export type Headers = Record<string, string | undefined>;

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Record<string, unknown>;
}

export interface RpcReply {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly result?: Record<string, unknown>;
  readonly error?: RpcError;
}

export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema: Record<string, unknown>;
  readonly annotations: Record<string, boolean>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export const GATEWAY = '/api/mcp';
export const PASSWORD = 'correct horse battery';
export const MODERN = '2026-07-28';
export const NDJSON = 'application/x-ndjson';
const META = 'io.modelcontextprotocol';

/** Posts to the gateway: a string or bytes as they are, anything else as JSON. */
export function post(hub: Target, body: unknown, headers: Headers = {}): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  return call(hub, GATEWAY, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: isRaw ? body : JSON.stringify(body),
  });
}

/** The one JSON-RPC response that an answer holds. */
export const replyOf = (answer: Answer): RpcReply => answer.json() as unknown as RpcReply;

/** The responses of a batch. */
export const repliesOf = (answer: Answer): RpcReply[] => answer.json() as unknown as RpcReply[];

/** One response per line. */
export const linesOf = (answer: Answer): RpcReply[] => {
  if (!answer.text.endsWith('\n')) throw new Error(`the last line is not ended: ${answer.text}`);
  return answer.text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as RpcReply);
};

/** The structured result; throws when there is none. */
export function structuredOf<T = Record<string, unknown>>(reply: RpcReply | undefined): T {
  const found = reply?.result?.['structuredContent'];
  if (found === undefined) throw new Error(`no result: ${JSON.stringify(reply)}`);
  return found as T;
}

/** The text of the first content item; throws when there is none. */
export function textOf(reply: RpcReply | undefined): string {
  const [item] = (reply?.result?.['content'] ?? []) as { text: string }[];
  if (item === undefined) throw new Error(`no text: ${JSON.stringify(reply)}`);
  return item.text;
}

export function request(id: unknown, method: string, params?: unknown): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
}

export function toolRequest(id: unknown, name: string, args: unknown = {}): Record<string, unknown> {
  return request(id, 'tools/call', { name, arguments: args });
}

/** `Authorization` headers of a key, or none. */
export const withKey = (key: string | undefined): Headers =>
  key === undefined ? {} : { Authorization: `McpKey ${key}` };

/** Calls a tool over the gateway and gives the response. */
export async function callTool(hub: Target, name: string, args: unknown, key?: string): Promise<RpcReply> {
  return replyOf(await post(hub, toolRequest(1, name, args), withKey(key)));
}

/** Calls a tool over the gateway and gives its structured result; throws when it was refused. */
/** Calls a tool at a door as MCP clients do, such as Claude Code. */
export async function callAsClient(
  hub: Target,
  { door, key }: { readonly door: string; readonly key: string },
  name: string,
  args: unknown = {},
): Promise<RpcReply> {
  const answer = await call(hub, door, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25', ...withKey(key) },
    body: JSON.stringify(toolRequest(1, name, args)),
  });
  return replyOf(answer);
}

export async function structured<T = Record<string, unknown>>(hub: Target, name: string, args: unknown, key?: string) {
  return structuredOf<T>(await callTool(hub, name, args, key));
}

/** Calls a tool over the REST mirror. */
export function mirrorTool(hub: Target, name: string, args: unknown = {}, headers: Headers = {}): Promise<Answer> {
  return call(hub, `${GATEWAY}/tools/${name}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof args === 'string' ? args : JSON.stringify(args),
  });
}

/** The listed tools of a door, by default every tool there is. */
export async function listTools(
  hub: Target,
  headers: Headers = {},
  door = `${GATEWAY}?toolsets=all`,
): Promise<ListedTool[]> {
  const answer = await call(hub, door, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(request(1, 'tools/list')),
  });
  return replyOf(answer).result?.['tools'] as ListedTool[];
}

/** The schema by which the arguments of each tool are checked, by its name, from the document of the tool mirror. */
export async function argumentSchemas(hub: Target): Promise<Map<string, Record<string, unknown>>> {
  interface Operation {
    readonly requestBody: { readonly content: Record<string, { readonly schema: Record<string, unknown> }> };
  }
  const document = (await call(hub, `${GATEWAY}/openapi.json`)).json() as {
    paths: Record<string, { readonly post?: Operation }>;
  };
  const prefix = `${GATEWAY}/tools/`;
  return new Map(
    Object.entries(document.paths)
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, { post: operation }]) => {
        const schema = operation?.requestBody.content['application/json']?.schema ?? {};
        return [path.slice(prefix.length), schema];
      }),
  );
}

/** A message of revision 2026-07-28: its body, and the headers that repeat parts of it. */
export function modern(
  method: string,
  params: Record<string, unknown> = {},
  id: unknown = 1,
): { readonly body: Record<string, unknown>; readonly headers: Record<string, string> } {
  const _meta = { [`${META}/protocolVersion`]: MODERN, [`${META}/clientCapabilities`]: {} };
  const { name } = params;
  return {
    body: request(id, method, { ...params, _meta }),
    headers: {
      'MCP-Protocol-Version': MODERN,
      'Mcp-Method': method,
      ...(method === 'tools/call' ? { 'Mcp-Name': String(name) } : {}),
    },
  };
}

/** Mints an access token, as `cairn token create` does beside a running hub. */
export async function accessToken(hub: Hub, email: string): Promise<string> {
  return (await control(hub, { command: 'token.create', email })).access_token;
}

/** Calls tools over JSON-RPC and over their REST mirror in turn; a refusal is an error. */
export function bothDoors(
  from: () => { readonly hub: Target; readonly key: string },
): <T>(name: string, args: object) => Promise<T> {
  let turn = 0;
  return async <T>(name: string, args: object) => {
    const { hub, key } = from();
    turn += 1;
    if (turn % 2 === 0) return structuredOf<T>(await callTool(hub, name, args, key));
    const answer = await mirrorTool(hub, name, args, withKey(key));
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json() as T;
  };
}
