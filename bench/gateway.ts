/** How many tools/call requests per second does the gateway answer, beside the official MCP server and a bare route? */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/hub.ts';
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
    // Both dialects of MCP take these; a server that follows the protocol refuses a client without Accept.
    const headers = { ...hub.headers, Accept: 'application/json, text/event-stream' };
    const load = (url: string): RequestLoad => ({ url, headers, connections: CONNECTIONS, seconds: 3, body: BODY });
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
    const sides: Record<string, RequestLoad> = { cairn: load(cairnUrl) };
    sides['bare'] = load(await start(BARE_ROUTE, 'reply.json', reply));
    if (missing === undefined) {
      const { result } = JSON.parse(reply) as ListAnswer;
      sides['sdk'] = load(await start('mcp-sdk.mjs', 'result.json', JSON.stringify(result)));
    } else note(missing);
    const rates = await takeTurns(QUESTION, sides, quick ? 2 : 5);
    return rowsFor(rates, missing);
  } finally {
    for (const server of servers) await server.stop();
    await hub.stop();
  }
};

/** The rows of an answer as text; also takes one event of an event stream. */
function rowsOf(text: string): string {
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  const { tasks } = (JSON.parse(data) as ListAnswer).result.structuredContent;
  if (tasks.length !== ROWS) throw new Error(`the answer has ${tasks.length} rows`);
  return JSON.stringify(tasks);
}

function rowsFor(rates: Readonly<Record<string, readonly number[]>>, missing: string | undefined): Row[] {
  const row = (side: string, yardstickName: string, target: number) =>
    pairedRow({
      question: QUESTION,
      yardstickName,
      cairn: rates['cairn'] ?? [],
      yardstick: rates[side] ?? [],
      unit: '/s',
      target,
    });
  return [
    missing === undefined ? row('sdk', 'official MCP server', 20) : missingRow(QUESTION, missing),
    row('bare', 'bare uWebSockets.js route', 0.5),
  ];
}

await runWhenStarted(import.meta.url, gateway);
