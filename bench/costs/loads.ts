/** Defines the measured loads, each of one kind of request, and runs them. */
import { AGENT } from '../../test/support/http.ts';
import { runClient } from '../client.ts';
import { runProgram } from '../peers/child.ts';
import { PUSH_SCRIPT, REQUESTS_SCRIPT, toolCall } from '../peers/servers/start.ts';
import { BUNDLE_BYTES, LARGE_BYTES, LARGE_UPLOADS, type Side } from './side.ts';
import { threadTime } from './thread-time.ts';

export interface Cost {
  /** Requests per second. */
  readonly rate: number;
  /** CPU time of one request in the hub thread, in microseconds. */
  readonly mainUs: number;
  /** CPU time of one request over all threads of the hub, in microseconds. */
  readonly allUs: number;
}

interface WrkLoad {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly body?: string;
  /** Script of wrk, with its arguments; the default sends `body`. */
  readonly script?: readonly string[];
  /** The status of every answer may be one of a refusal. */
  readonly isRefused?: true;
}

const READERS = 32;
const WRITERS = 64;
const PUSHED_FILES = 10_000;

interface UploadLoad {
  readonly connections: number;
  readonly bodyBytes: number;
  /** By each connection. */
  readonly requestsPerSecond: number;
}

/** The bodies are created and signed in advance. */
const UPLOAD_LOADS = {
  upload: { connections: 32, bodyBytes: BUNDLE_BYTES, requestsPerSecond: 50 },
  uploadLarge: { connections: LARGE_UPLOADS, bodyBytes: LARGE_BYTES, requestsPerSecond: 1 },
  uploadAlone: { connections: 1, bodyBytes: LARGE_BYTES, requestsPerSecond: 6 },
} as const satisfies Readonly<Record<string, UploadLoad>>;

const PAGE = '/api/tasks?completed=false&sort_by=due_date';

const CREATED = { content: 'Renew the certificate', due_date: '2026-12-01' };

const rpc =
  (tool: string, args: Record<string, unknown>, connections: number) =>
  ({ headers }: Side): WrkLoad => ({
    path: '/api/mcp',
    headers,
    connections,
    body: JSON.stringify(toolCall(tool, args)),
  });
const page =
  (path: string) =>
  ({ accessToken }: Side): WrkLoad => ({
    path,
    headers: { Authorization: `Bearer ${accessToken}`, 'User-Agent': AGENT },
    connections: READERS,
  });

const bundle =
  (size: keyof Side['commits'], connections: number) =>
  ({ credential, commits }: Side): WrkLoad => ({
    path: `/api/cert_mirror/${commits[size]}/download`,
    headers: { Authorization: `McpKey ${credential.token}`, 'User-Agent': AGENT },
    connections,
  });

const refused =
  (load: (side: Side) => WrkLoad) =>
  (side: Side): WrkLoad => ({ ...load(side), isRefused: true });

/** Loads run by wrk. `0000-00-00` and `&~` become another day and another spelling in each request. */
const WRK_LOADS = {
  list: rpc('list_tasks', { limit: 25 }, READERS),
  listNew: rpc('list_tasks', { limit: 25, created_from: '0000-00-00' }, READERS),
  page: page(PAGE),
  pageNew: page(`${PAGE}&~`),
  create: rpc('create_task', CREATED, WRITERS),
  /** Each content differs, so that no task of the last minutes is the same. */
  createNew: rpc('create_task', { ...CREATED, content: 'Renew the certificate of 0000-00-00' }, WRITERS),
  push: ({ headers }: Side): WrkLoad => ({
    path: '/api/mcp/tools/sync_push',
    headers,
    connections: WRITERS,
    script: [PUSH_SCRIPT, String(PUSHED_FILES)],
  }),
  download: bundle('small', READERS),
  downloadMiddle: bundle('middle', 8),
  downloadLarge: bundle('large', 4),
  downloadAlone: bundle('large', 1),
  /** Refused calls, to hold beside the accepted ones: none may cost more. */
  get: page('/api/tasks/1'),
  refusedGet: refused(page('/api/tasks/999999999')),
  refusedCredential: refused((side) => page('/api/tasks/1')({ ...side, accessToken: 'nobody' })),
  refusedName: rpc('create_task', { contnet: 'Renew the certificate', due_date: '2026-12-01' }, WRITERS),
  refusedValue: rpc('create_task', { ...CREATED, due_date: 'tomorow' }, WRITERS),
  refusedTool: rpc('creat_tasks', CREATED, WRITERS),
  bare: page('/health'),
};

export const LOAD_NAMES = [
  ...(Object.keys(WRK_LOADS) as (keyof typeof WRK_LOADS)[]),
  ...(Object.keys(UPLOAD_LOADS) as (keyof typeof UPLOAD_LOADS)[]),
];
export type LoadName = (typeof LOAD_NAMES)[number];

/** Loads a hub with one kind of request for `seconds`, and returns the cost of a request. */
export async function costOf(side: Side, name: LoadName, seconds: number): Promise<Cost> {
  if (!isUpload(name)) return await costAt(side.cairn, side, name, seconds);
  return await costDuring(side.cairn.pid, () => upload(side, UPLOAD_LOADS[name], seconds));
}

const isUpload = (name: LoadName): name is keyof typeof UPLOAD_LOADS => name in UPLOAD_LOADS;

/** As `costOf`, with the requests of a hub's account sent to any server. */
export async function costAt(
  server: { readonly pid: number; readonly url: string },
  side: Side,
  name: keyof typeof WRK_LOADS,
  seconds: number,
): Promise<Cost> {
  return await costDuring(server.pid, () => wrkRun(server.url, WRK_LOADS[name](side), seconds));
}

async function costDuring(pid: number, run: () => Promise<{ count: number; ms: number }>): Promise<Cost> {
  const before = threadTime(pid);
  const { count, ms } = await run();
  const after = threadTime(pid);
  return {
    rate: (count * 1000) / ms,
    mainUs: (after.main - before.main) / count,
    allUs: (after.all - before.all) / count,
  };
}

async function wrkRun(url: string, load: WrkLoad, seconds: number): Promise<{ count: number; ms: number }> {
  const fields = Object.entries(load.headers).flatMap(([field, value]) => ['-H', `${field}: ${value}`]);
  const [script, ...args] = load.script ?? [REQUESTS_SCRIPT, ...(load.body === undefined ? [] : [load.body])];
  const how = ['-t1', `-c${load.connections}`, `-d${seconds}s`, '--timeout', '30s', ...fields, '-s', String(script)];
  const text = await runProgram('wrk', [...how, url + load.path, ...(args.length > 0 ? ['--', ...args] : [])]);
  const [, count, taken] = /(\d+) requests in ([\d.]+)s/.exec(text) ?? [];
  const isRefused = text.includes('Non-2xx') && load.isRefused !== true;
  if (count === undefined || isRefused || text.includes('Socket errors')) throw new Error(text);
  return { count: Number(count), ms: Number(taken) * 1000 };
}

/** Uploads for about the given time. */
async function upload(
  { cairn, credential }: Side,
  { connections, bodyBytes, requestsPerSecond }: UploadLoad,
  seconds: number,
): Promise<{ count: number; ms: number }> {
  const requestsPerConnection = Math.ceil(requestsPerSecond * seconds);
  const { ms } = await runClient({ port: cairn.port, credential, connections, requestsPerConnection, bodyBytes });
  return { count: connections * requestsPerConnection, ms };
}
