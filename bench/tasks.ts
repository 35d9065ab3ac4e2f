/** How fast are a page of tasks and durable new tasks, against fastify and a database with the same responses? */
import { join } from 'node:path';
import { setup } from '../test/support/global-setup.ts';
import { AGENT, call } from '../test/support/http.ts';
import { postgresPrograms, startPostgres } from '../test/support/postgres-server.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { hasTool, requireTool } from './peers/child.ts';
import {
  installServers,
  pgbenchRate,
  post,
  type Server,
  type Side,
  startServer,
  startTaskHub,
  takeTurns,
  toolCall,
} from './peers/servers/start.ts';
import { type Bench, missingRow, note, pairedRow, type Row, runWhenStarted } from './report.ts';

const PAGE = '/api/tasks?completed=false&sort_by=due_date';
/** The same query with another spelling each time, so that no page comes from a cache. */
const CHANGING_PAGE = `${PAGE}&~`;
const LIST_CONNECTIONS = 32;
const CREATE_CONNECTIONS = 64;
const NEW_TASK = { content: 'Renew the certificate', due_date: '2026-12-01' };
const YARDSTICK = 'fastify + better-sqlite3';
const TARGETS: Readonly<Record<string, number>> = { [YARDSTICK]: 4, 'fastify + PostgreSQL': 3, pgbench: 0.8 };

interface Page {
  readonly data: readonly Record<string, unknown>[];
  readonly meta: { readonly total: number };
}

export const tasks: Bench = async ({ quick, only = '' }) => {
  requireTool('wrk', 'wrk');
  const missing = await installServers();
  if (missing !== undefined) {
    note(missing);
    return [missingRow('tasks', missing)];
  }
  const rounds = quick ? 2 : 5;
  const parts: Readonly<Record<string, () => Promise<Row[]>>> = {
    'page of 1000 tasks': () => list(1000, rounds),
    'page of 100000 tasks': () => list(100_000, rounds),
    create: async () => {
      const end = setup();
      try {
        return await create(rounds);
      } finally {
        end();
      }
    },
  };
  const rows: Row[] = [];
  for (const [name, part] of Object.entries(parts)) if (name.includes(only)) rows.push(...(await part()));
  return rows;
};

/** One page of 25 open tasks by due date, with the total: repeated (cached by the hub), and computed each time. */
async function list(count: number, rounds: number): Promise<Row[]> {
  const server = await startServer('tasks-sqlite.mjs', join(temporaryFolder(), 'tasks.db'), String(count));
  const hub = await startTaskHub(count);
  try {
    const headers = await hub.accessHeaders();
    const pages = await Promise.all([hub.cairn.url, server.url].map((url) => read(url, headers)));
    if (new Set(pages).size !== 1) throw new Error(`the sides answer differently: ${pages.join(' / ')}`);
    const rows: Row[] = [];
    for (const [how, page, target] of [
      ['the same again', PAGE, 2],
      ['another query each time', CHANGING_PAGE, 4],
    ] as const) {
      const question = `page of 25 of ${count} tasks, ${how}, ${LIST_CONNECTIONS} connections`;
      const load = (url: string) => ({ url: url + page, headers, connections: LIST_CONNECTIONS, seconds: 3 });
      const rates = await takeTurns(question, { cairn: load(hub.cairn.url), sqlite: load(server.url) }, rounds);
      const { cairn, sqlite: yardstick } = rates;
      rows.push(pairedRow({ question, yardstickName: YARDSTICK, cairn, yardstick, unit: '/s', target }));
    }
    return rows;
  } finally {
    await server.stop();
    await hub.stop();
  }
}

/** Returns the parts that must be the same on both sides: field names, the total, and the due days. */
async function read(url: string, headers: Record<string, string>): Promise<string> {
  const answer = await call({ url }, PAGE, { headers });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${answer.text}`);
  const { data, meta } = answer.json() as unknown as Page;
  const days = data.map((task) => task['due_date']);
  return JSON.stringify([Object.keys(data[0] ?? {}).toSorted(), days, meta]);
}

/** Each request creates one task; the response means that the task is on disk. */
async function create(rounds: number): Promise<Row[]> {
  const question = `durable create_task, ${CREATE_CONNECTIONS} connections`;
  const database = postgresPrograms === undefined ? undefined : (await startPostgres()).url;
  const file = join(temporaryFolder(), 'tasks.db');
  const servers: Record<string, Server> = { [YARDSTICK]: await startServer('tasks-sqlite.mjs', file, '1000') };
  if (database !== undefined) servers['fastify + PostgreSQL'] = await startServer('tasks-postgres.mjs', database);
  const hub = await startTaskHub(1000);
  try {
    const common = { connections: CREATE_CONNECTIONS, seconds: 3 };
    const plain = { ...common, headers: { 'User-Agent': AGENT }, body: JSON.stringify(NEW_TASK) };
    const call = JSON.stringify(toolCall('create_task', NEW_TASK));
    const cairn = { ...common, url: `${hub.cairn.url}/api/mcp`, headers: hub.headers, body: call };
    const others = Object.entries(servers).map(
      ([name, { url }]) => [name, { ...plain, url: `${url}/api/tasks` }] as const,
    );
    for (const [, { url, headers, body }] of [['cairn', cairn] as const, ...others]) {
      const answer = await post(url, headers, body);
      if (!answer.includes(NEW_TASK.content)) throw new Error(`${url} made no task: ${answer}`);
    }
    const sides: Record<string, Side> = { cairn, ...Object.fromEntries(others) };
    if (database !== undefined && hasTool('pgbench'))
      sides['pgbench'] = () => pgbenchRate(database, CREATE_CONNECTIONS, 3);
    const { cairn: own = [], ...beside } = await takeTurns(question, sides, rounds);
    const rows = Object.entries(beside).map(([yardstickName, yardstick]) =>
      pairedRow({ question, yardstickName, cairn: own, yardstick, unit: '/s', target: TARGETS[yardstickName] }),
    );
    if (database !== undefined) return rows;
    return [...rows, missingRow(question, 'PostgreSQL is missing; install it with: apt-get install postgresql')];
  } finally {
    for (const server of Object.values(servers)) await server.stop();
    await hub.stop();
  }
}

await runWhenStarted(import.meta.url, tasks);
