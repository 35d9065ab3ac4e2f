/** Starts the servers of this package, fills a hub with tasks, and measures requests per second with wrk. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENT, call } from '../../../test/support/http.ts';
import { runCairn } from '../../../test/support/hub.ts';
import type { Account } from '../../../test/support/mirror.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { note } from '../../report.ts';
import { type Cairn, startCairn } from '../cairn.ts';
import { runProgram, startProgram, stopProgram, waitForPort } from '../child.ts';
import { freePort } from '../free-port.ts';

/** The package in the source tree: its dependencies are installed there, and it is not compiled. */
const PACKAGE = fileURLToPath(new URL('../../../../bench/peers/servers/', import.meta.url));
const CALLS_PER_BATCH = 100;
/** wrk script that repeats one request, or varies it each time. */
export const REQUESTS_SCRIPT = join(PACKAGE, 'requests.lua');
/** wrk script that pushes files of 1 KiB: PUSH_SCRIPT, then the number of files. */
export const PUSH_SCRIPT = join(PACKAGE, 'push.lua');
const BATCHES_AT_ONCE = 8;

export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** Installs the package if needed. Resolves with what is missing when that fails. */
export async function installServers(): Promise<string | undefined> {
  const built = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';
  const needed = [built, 'node_modules/fastify/package.json', 'node_modules/@modelcontextprotocol/server/package.json'];
  const missing = () => needed.filter((path) => !existsSync(join(PACKAGE, path)));
  if (missing().length === 0) return undefined;
  note(`npm ci in ${PACKAGE}: the servers to measure beside are not installed`);
  try {
    await runProgram('npm', ['ci', '--prefix', PACKAGE]);
  } catch (error) {
    note((error as Error).message);
  }
  return missing().length === 0 ? undefined : `npm ci failed in bench/peers/servers; missing: ${missing().join(', ')}`;
}

/** Starts a program of the package, passing a port and the arguments. */
export async function startServer(program: string, ...args: string[]): Promise<Server> {
  const file = program.endsWith('.mjs') ? join(PACKAGE, program) : fileURLToPath(new URL(program, import.meta.url));
  const port = await freePort();
  const child = startProgram(process.execPath, [file, String(port), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await waitForPort(port, child);
  return { url: `http://127.0.0.1:${port}`, stop: () => stopProgram(child) };
}

export interface TaskHub {
  readonly cairn: Cairn;
  /** Includes the account's MCP key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Resolves with headers containing a new access token. */
  accessHeaders(): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts a hub with one account and `count` tasks. */
export async function startTaskHub(count: number): Promise<TaskHub> {
  const folder = temporaryFolder();
  const env = { CAIRN_DATA: join(folder, 'data') };
  const cairn = await startCairn({
    ...env,
    CAIRN_RATE_LIMIT: '0',
    CAIRN_SIGNIN_LIMIT: '0',
    CAIRN_LOG_LEVEL: 'warn',
  });
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCairn([...args, '--email', 'tasks@example.org', '--json'], env);
    if (code !== 0) throw new Error(`cairn ${args.join(' ')} failed: ${stderr}`);
    return JSON.parse(stdout) as Account & { readonly access_token: string };
  };
  const { mcp_key: key } = await cli('account', 'create');
  const headers = { Authorization: `McpKey ${key}`, 'User-Agent': AGENT };
  await fillTasks(cairn, headers, count);
  return {
    cairn,
    headers,
    async accessHeaders() {
      const { access_token: token } = await cli('token', 'create');
      return { Authorization: `Bearer ${token}`, 'User-Agent': AGENT };
    },
    async stop() {
      await cairn.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates `count` tasks of the load. */
export function fillTasks(
  cairn: Pick<Cairn, 'url'>,
  headers: Readonly<Record<string, string>>,
  count: number,
): Promise<void> {
  return fill(cairn, headers, { tool: 'create_task', count, argumentsOf: taskDocument });
}

/** Returns a task of the load: a quarter is done, due days span a year. tasks-sqlite.mjs creates the same. */
function taskDocument(index: number): Record<string, unknown> {
  const due = new Date(Date.UTC(2026, 0, 1 + ((index * 7919) % 365))).toISOString().slice(0, 10);
  return { content: `Task number ${index}`, due_date: due, completed: index % 4 === 0 };
}

/** Returns the body of a tool call. */
export function toolCall(name: string, args: Record<string, unknown>, id = 1): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export interface Filling {
  readonly tool: string;
  readonly count: number;
  /** Arguments of a call by its number, from 0. */
  readonly argumentsOf: (index: number) => Record<string, unknown>;
}

/** Calls a tool many times, in concurrent batches; throws when a call is refused. */
export async function fill(
  cairn: Pick<Cairn, 'url'>,
  headers: Readonly<Record<string, string>>,
  { tool, count, argumentsOf }: Filling,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const first = next;
      next = Math.min(count, next + CALLS_PER_BATCH);
      const items = Array.from({ length: next - first }, (_, index) =>
        toolCall(tool, argumentsOf(first + index), index),
      );
      const answer = await postWhenTaken(`${cairn.url}/api/mcp`, headers, JSON.stringify(items));
      if (answer.includes('"error"')) throw new Error(`${tool} was refused: ${answer.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, lane));
}

/** Sends one POST, retrying while the hub is busy. */
async function postWhenTaken(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<string> {
  for (;;) {
    try {
      return await post(url, headers, body);
    } catch (error) {
      if (!String(error).includes('answered 503')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** Sends one POST; throws unless the status is 200. */
export async function post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  const fields = { ...headers, 'Content-Type': 'application/json' };
  const answer = await call({ url: origin }, pathname, { method: 'POST', headers: fields, body });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${answer.text}`);
  return answer.text;
}

export interface RequestLoad {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** Sent with POST; without it the request is GET. */
  readonly body?: string;
}

export interface PushLoad extends Omit<RequestLoad, 'body'> {
  /** Number of files, pushed in turn. */
  readonly files: number;
}

/** How a side is loaded: with wrk, or by a program of its own that resolves with the requests per second. */
export type Side = RequestLoad | (() => Promise<number>);

/** Resolves with the pushes per second; each is 1 KiB, and all differ. */
export function pushRate({ files, ...load }: PushLoad): Promise<number> {
  return wrkRate(load, ['-s', PUSH_SCRIPT, load.url, '--', String(files)]);
}

/** Resolves with the requests per second. */
export function requestRate({ body, ...load }: RequestLoad): Promise<number> {
  return wrkRate(load, ['-s', REQUESTS_SCRIPT, load.url, ...(body === undefined ? [] : ['--', body])]);
}

/** Runs wrk with one thread. Throws when a response was an error. */
async function wrkRate(load: Omit<RequestLoad, 'body' | 'url'>, target: readonly string[]): Promise<number> {
  const { headers, connections, seconds } = load;
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', ...fields];
  const text = await runProgram('wrk', [...args, ...target]);
  if (text.includes('Non-2xx') || text.includes('Socket errors')) throw new Error(`wrk met errors: ${text}`);
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(text) ?? [];
  if (rate === undefined) throw new Error(`wrk said: ${text}`);
  return Number(rate);
}

/** Resolves with the inserts of a task per second that `pgbench` makes with nothing before PostgreSQL; durable each. */
export async function pgbenchRate(database: string, connections: number, seconds: number): Promise<number> {
  const script = join(PACKAGE, 'insert-task.sql');
  const how = ['-n', '-M', 'prepared', '-j', '2', '-c', String(connections), '-T', String(seconds), '-f', script];
  const text = await runProgram('pgbench', [...how, database]);
  const [, rate] = /tps = ([\d.]+)/.exec(text) ?? [];
  if (rate === undefined) throw new Error(`pgbench said: ${text}`);
  return Number(rate);
}

/** Alternates between sides, a pair or more; the first round is warm-up. Resolves with the rates of each side. */
export async function takeTurns<Name extends string>(
  question: string,
  sides: Readonly<Record<Name, Side>>,
  rounds: number,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(sides) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const load = sides[name];
      const seconds = round === 0 ? { seconds: 1 } : {};
      const rate = await (typeof load === 'function' ? load() : requestRate({ ...load, ...seconds }));
      if (round > 0) rates[name].push(rate);
    }
    if (round > 0) note(`${question}: ${names.map((name) => `${name} ${rates[name].at(-1)?.toFixed(0)}`).join(', ')}`);
  }
  return rates;
}
