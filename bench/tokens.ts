/** How much of an agent's context do the tools take: the list that it reads before its first call, and usual answers? */
import { PASSWORD, structured, withKey } from '../test/support/gateway.ts';
import { call } from '../test/support/http.ts';
import { startCairn } from './peers/cairn.ts';
import { post, toolCall } from './peers/servers/start.ts';
import { type Bench, type Row, runWhenStarted } from './report.ts';

/** Characters of a token, as rule MCP-8 counts. */
const TOKEN_CHARS = 4;
const TASKS = 25;
const FILES = 100;

interface Listed {
  readonly result: {
    readonly tools: readonly { readonly name: string; readonly description: string; readonly inputSchema: object }[];
  };
}

interface Answered {
  readonly result: { readonly content: readonly { readonly text: string }[]; readonly structuredContent: object };
}

export const tokens: Bench = async () => {
  const hub = await startCairn({ CAIRN_LOG_LEVEL: 'warn' });
  try {
    const person = { email: 'bench@example.org', password: PASSWORD };
    const { mcp_key: key } = await structured<{ mcp_key: string }>(hub, 'signup_and_get_key', person);
    const url = `${hub.url}/api/mcp`;
    const ask = async (method: string) =>
      JSON.parse(
        await post(url, withKey(key) as Record<string, string>, JSON.stringify({ jsonrpc: '2.0', id: 1, method })),
      );
    const { tools } = ((await ask('tools/list')) as Listed).result;
    const listed = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const bounded = await boundedSchemas(hub.url);
    const withBounds = tools.map(({ name, description }) => ({ name, description, inputSchema: bounded(name) }));
    const read = (list: readonly { description: string; inputSchema: object }[]) =>
      list.map(({ description, inputSchema }) => description + JSON.stringify(inputSchema)).join('');
    const rows = [
      row(`descriptions and schemas of ${tools.length} tools`, read(listed), 'with all bounds', read(withBounds), 5000),
    ];
    for (let n = 0; n < TASKS; n += 1) await structured(hub, 'create_task', { content: `Renew certificate ${n}` }, key);
    await pushFiles(hub.url, key);
    for (const [name, args] of [
      ['list_tasks', { limit: TASKS }],
      ['sync_list', { limit: FILES }],
    ] as const) {
      const body = JSON.stringify(toolCall(name, args));
      const { result } = JSON.parse(await post(url, withKey(key) as Record<string, string>, body)) as Answered;
      const text = result.content.map((item) => item.text).join('');
      rows.push(
        row(`text of ${name}, ${args.limit} records`, text, 'structured', JSON.stringify(result.structuredContent)),
      );
    }
    return rows;
  } finally {
    await hub.stop();
  }
};

/** The schemas by which arguments are checked, from the document of the tool mirror. */
async function boundedSchemas(url: string): Promise<(name: string) => object> {
  const { paths } = (await call({ url }, '/api/mcp/openapi.json')).json() as {
    paths: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> } } }>;
  };
  return (name) => paths[`/api/mcp/tools/${name}`]?.post.requestBody.content['application/json']?.schema ?? {};
}

async function pushFiles(url: string, key: string): Promise<void> {
  for (let n = 0; n < FILES; n += 1) {
    // An empty file, whose SHA-256 is known.
    const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    await structured({ url }, 'sync_push', { path: `notes/file-${n}.md`, content: '', sha256, base_sha: '' }, key);
  }
}

function row(question: string, text: string, yardstickName: string, yardstick: string, target?: number): Row {
  const [count, other] = [text, yardstick].map((one) => Math.ceil(one.length / TOKEN_CHARS)) as [number, number];
  return {
    question,
    cairn: `${count} tokens`,
    yardstick: `${yardstickName} ${other} tokens`,
    ratio: (count / other).toFixed(2),
    target: target === undefined ? '' : `≤ ${target}`,
    reached: target === undefined ? undefined : count <= target,
  };
}

await runWhenStarted(import.meta.url, tokens);
