/**
 * How many tools/call requests per second does the gateway answer, compared with the official MCP server and a bare
 * route? Measured with a repeated list, cached by the gateway while nothing changes, and with a list that must be
 * computed each time.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { requireTool } from './peers/child.ts';
import {
  installServers,
  post,
  type RequestLoad,
  type Server,
  startServer,
  startTaskHub,
  takeTurns,
  toolCall,
} from './peers/servers/start.ts';
import { type Bench, missingRow, note, pairedRow, type Row, runWhenStarted } from './report.ts';

const TASKS = 1000;
const ROWS = 25;
const CONNECTIONS = 32;
const QUESTION = `tools/call list_tasks, ${ROWS} rows, ${CONNECTIONS} connections`;
const BARE_ROUTE = fileURLToPath(new URL('./peers/servers/bare-route.js', import.meta.url));
const BODY = JSON.stringify(toolCall('list_tasks', { limit: ROWS }));
/** Each request replaces this day with another, so that no response comes from a cache. */
const CHANGING_BODY = JSON.stringify(toolCall('list_tasks', { limit: ROWS, created_from: '0000-00-00' }));
const CHANGING_QUESTION = `${QUESTION}, each with other arguments`;

interface ListAnswer {
  readonly result: { readonly structuredContent: { readonly tasks: readonly unknown[] } };
}

export const gateway: Bench = async ({ quick }) => {
  requireTool('wrk', 'wrk');
  const missing = await installServers();
  const folder = temporaryFolder();
  const hub = await startTaskHub(TASKS);
  const servers: Server[] = [];
  try {
    // Works with both dialects of MCP; a server following the protocol refuses a client without Accept.
    const headers = { ...hub.headers, Accept: 'application/json, text/event-stream' };
    const load = (url: string, body = BODY): RequestLoad => ({
      url,
      headers,
      connections: CONNECTIONS,
      seconds: 3,
      body,
    });
    const cairnUrl = `${hub.cairn.url}/api/mcp`;
    const reply = await post(cairnUrl, headers, BODY);
    const tasks = rowsOf(reply);
    const start = async (program: string, name: string, text: string) => {
      const file = join(folder, name);
      writeFileSync(file, text);
      const server = await startServer(program, file);
      servers.push(server);
      const url = `${server.url}/api/mcp`;
      if (rowsOf(await post(url, headers, BODY)) !== tasks) throw new Error(`${name}: another answer than Cairn's`);
      return url;
    };
    const sides: Record<string, string> = { bare: await start(BARE_ROUTE, 'reply.json', reply) };
    if (missing === undefined) {
      const { result } = JSON.parse(reply) as ListAnswer;
      sides['sdk'] = await start('mcp-sdk.mjs', 'result.json', JSON.stringify(result));
    } else note(missing);
    const rows: Row[] = [];
    for (const [question, body, targets] of [
      [QUESTION, BODY, { sdk: 30, bare: 0.5 }],
      [CHANGING_QUESTION, CHANGING_BODY, { sdk: 10, bare: undefined }],
    ] as const) {
      const loads = Object.entries({ cairn: cairnUrl, ...sides }).map(
        ([side, url]) => [side, load(url, body)] as const,
      );
      const rates = await takeTurns(question, Object.fromEntries(loads), quick ? 2 : 5);
      rows.push(...rowsFor(question, rates, missing, targets));
    }
    return rows;
  } finally {
    for (const server of servers) await server.stop();
    await hub.stop();
  }
};

/** Returns the rows of a response as text; also reads one event of an event stream. */
function rowsOf(text: string): string {
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  const { tasks } = (JSON.parse(data) as ListAnswer).result.structuredContent;
  if (tasks.length !== ROWS) throw new Error(`the answer has ${tasks.length} rows`);
  return JSON.stringify(tasks);
}

function rowsFor(
  question: string,
  rates: Readonly<Record<string, readonly number[]>>,
  missing: string | undefined,
  targets: Readonly<Record<'sdk' | 'bare', number | undefined>>,
): Row[] {
  const row = (side: 'sdk' | 'bare', yardstickName: string) =>
    pairedRow({
      question,
      yardstickName,
      cairn: rates['cairn'] ?? [],
      yardstick: rates[side] ?? [],
      unit: '/s',
      target: targets[side],
    });
  return [
    missing === undefined ? row('sdk', 'official MCP server') : missingRow(question, missing),
    row('bare', 'bare uWebSockets.js route'),
  ];
}

await runWhenStarted(import.meta.url, gateway);
