/**
 * What does a load of one account, or of strangers, cost everybody else? For each load of `fair/loads.ts`: the response
 * times of other callers before and during it, in one run. The load comes from a process of its own, at the least
 * priority, on the cores of the hub; the calls of the others come from this one. Then the same without the load, while
 * foreign processes use as much of the machine, at the same priorities, as the client of the load and the threads of the
 * hub did: what those cores cost by themselves. Also told: what the hub's main thread did (`fair/thread-probe.ts`).
 *
 * `--pinned`: the hub has one core, and all clients another one.
 * `--tree=FOLDER`, repeatable: measures the build in this folder; several are measured in turns. `--only=A,B`: only the
 * loads whose name contains one of these. `--seconds=N`: of each measurement (default 9). `--quick`: a tenth of the
 * files, and three seconds.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limits } from '../src/limits/service.ts';
import { toolRequest } from '../test/support/gateway.ts';
import { AGENT } from '../test/support/http.ts';
import { CAIRN, type Hub, startHub } from '../test/support/hub.ts';
import { type Account, type Credential, mirrorAccount, randomCommit, upload } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { takeReport } from './delays.ts';
import { fillHub, fillLimited } from './fair/fill.ts';
import type { LoadOrder, LoadReport } from './fair/load-process.ts';
import { type Attacked, LOADS } from './fair/loads.ts';
import { type ThreadTimes, threadProbe, toldTimes } from './fair/thread-times.ts';
import { type Bench, note, type Row, runWhenStarted } from './report.ts';
import { percentile } from './steady.ts';

const FILES = 10_000;
const QUICK_FILES = 1000;
const SECONDS = 9;
const QUICK_SECONDS = 3;
const FACTOR_MAX = 3;
const LEAST_PRIORITY = 19;
const SETTLE_MS = 1500;
const PAUSE_MS = 4;
const DOWNLOAD_BYTES = 64 * 1024;
/** So many that none of them meets its limit. */
const OTHERS_OF_LIMITED = 60;

type Person = Account & Credential;

const isPinned = process.argv.includes('--pinned');
const [HUB_CORE, CLIENT_CORE] = ['0', '1'];

interface Place {
  readonly hub: Hub;
  /** What the probe in the hub counted since the last call. */
  threadTimes(): Promise<ThreadTimes>;
  readonly attacked: Attacked;
  readonly others: readonly Person[];
  /** The commit that each of the others has stored. */
  readonly commit: string;
}

/** One build, and the hubs of it that run. */
class Build {
  readonly name: string;
  readonly #script: string;
  readonly #places = new Map<boolean, Promise<Place>>();

  constructor(folder: string | undefined) {
    this.name = folder === undefined ? 'this build' : basename(resolve(folder));
    this.#script = folder === undefined ? CAIRN : join(resolve(folder), 'dist/src/cli/cairn.js');
  }

  place(isLimited: boolean, files: number): Promise<Place> {
    const place = this.#places.get(isLimited) ?? this.#start(isLimited, files);
    this.#places.set(isLimited, place);
    return place;
  }

  async #start(isLimited: boolean, files: number): Promise<Place> {
    const rate = isLimited ? { CAIRN_RATE_LIMIT: '600' } : {};
    // Its request lines go to a file: this process reads the log of a hub, and measures.
    const log = { CAIRN_ACCESS_LOG: join(temporaryFolder(), 'access.log') };
    const probed = threadProbe();
    const env = {
      CAIRN_TRUSTED_PROXIES: '127.0.0.1',
      CAIRN_LOOP_DELAY_MS: '500',
      CAIRN_SIGNUP: 'open',
      ...log,
      ...rate,
      ...probed.env,
    };
    const wrapper = isPinned ? ['taskset', '-c', HUB_CORE] : [];
    const hub = await startHub({ env, script: this.#script, wrapper });
    const attacked = await (isLimited ? fillLimited(hub) : fillHub(hub, files));
    const commit = randomCommit();
    const others = await Promise.all(
      Array.from({ length: isLimited ? OTHERS_OF_LIMITED : 1 }, () => mirrorAccount(hub)),
    );
    for (const other of others) await upload(hub, other, commit, randomBytes(DOWNLOAD_BYTES));
    return { hub, attacked, others, commit, threadTimes: () => takeReport<ThreadTimes>(hub, probed.file) };
  }

  async stop(): Promise<void> {
    for (const place of this.#places.values()) await (await place).hub.stop();
  }
}

interface Asked {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What others ask for. */
function questions({ commit }: Place, { mcp_key: key, token }: Person): Readonly<Record<string, Asked>> {
  const tool = (name: string, args: object): Asked => ({
    path: '/api/mcp',
    headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(toolRequest(1, name, args)),
  });
  return {
    '/health': { path: '/health', headers: { 'X-Forwarded-For': '203.0.113.7' } },
    list_tasks: tool('list_tasks', {}),
    create_task: tool('create_task', { content: 'x' }),
    download: { path: `/api/cert_mirror/${commit}/download`, headers: { Authorization: `McpKey ${token}` } },
  };
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Resolves with the status. Rejects when the connection ends without an answer. */
function ask(url: string, { path, headers, body }: Asked): Promise<number> {
  const method = body === undefined ? 'GET' : 'POST';
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  return new Promise((resolved, reject) => {
    const fields = { 'User-Agent': AGENT, ...headers, ...length };
    const outgoing = request(`${url}${path}`, { method, agent, headers: fields }, (incoming) => {
      incoming.on('error', reject).on('end', () => resolved(incoming.statusCode ?? 0));
      incoming.resume();
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

interface Running {
  readonly pid: number;
  report(): Promise<LoadReport>;
  end(): Promise<void>;
}

interface Times {
  /** Milliseconds by question, ascending. */
  readonly ms: Readonly<Record<string, number[]>>;
  readonly refused: number;
}

async function probe(place: Place, seconds: number): Promise<Times> {
  const ms: Record<string, number[]> = {};
  let refused = 0;
  const endMs = performance.now() + seconds * 1000;
  for (let round = 0; performance.now() < endMs; round += 1) {
    const other = place.others[round % place.others.length] as Person;
    for (const [name, asked] of Object.entries(questions(place, other))) {
      const startedMs = performance.now();
      const status = await ask(place.hub.url, asked).catch(() => 0);
      const list = ms[name] ?? [];
      ms[name] = list;
      if (status === 200) list.push(performance.now() - startedMs);
      else refused += 1;
    }
    await sleep(PAUSE_MS);
  }
  for (const list of Object.values(ms)) list.sort((a, b) => a - b);
  return { ms, refused };
}

/** Starts a load in a process of its own. */
async function startLoad(order: LoadOrder): Promise<Running> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./fair/load-process.js', import.meta.url)));
  setPriority(child.pid ?? 0, LEAST_PRIORITY);
  const answer = () =>
    new Promise<LoadReport>((resolved, reject) => {
      const gone = (code: number | null) => reject(new Error(`the load ended with ${code}`));
      child.once('exit', gone);
      child.once('message', (message) => {
        child.off('exit', gone);
        resolved(message as LoadReport);
      });
    });
  child.send(order);
  await answer();
  return {
    pid: child.pid ?? 0,
    report() {
      child.send('report');
      return answer();
    },
    end: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolved) => child.once('exit', resolved));
  child.kill('SIGKILL');
  await gone;
}

/** Seconds of a core in each second. */
interface Used {
  /** By the client of the load. */
  readonly client: number;
  /** By the hub's main thread, and by its other threads. */
  readonly main: number;
  readonly others: number;
}

/** Probes while foreign processes use as much of the machine as a load did, and the hub has no load. */
async function burned(place: Place, { client, main, others }: Used, seconds: number): Promise<Times> {
  const script = fileURLToPath(new URL('./fair/burn-process.js', import.meta.url));
  const children: ChildProcess[] = [];
  const burn = (share: number, nice: number, core: string) => {
    for (let left = share; left > 0.01; left -= 1) {
      const child = fork(script, [String(Math.min(left, 1)), String(nice)]);
      if (isPinned) pin(child.pid ?? 0, core);
      children.push(child);
    }
  };
  burn(client, LEAST_PRIORITY, CLIENT_CORE);
  burn(main, 0, HUB_CORE);
  burn(others, limits.poolNice, HUB_CORE);
  await Promise.all(children.map((child) => new Promise((resolved) => child.once('message', resolved))));
  try {
    return await probe(place, seconds);
  } finally {
    for (const child of children) await ended(child);
  }
}

function pin(pid: number, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}

interface Measured {
  readonly build: string;
  readonly load: string;
  readonly idle: Times;
  readonly busy: Times;
  readonly burned: Times;
  readonly used: Used;
  readonly thread: { readonly idle: ThreadTimes; readonly busy: ThreadTimes };
  readonly served: LoadReport;
}

async function measure(
  build: Build,
  load: string,
  { files, seconds }: { files: number; seconds: number },
): Promise<Measured> {
  const place = await build.place(LOADS[load]?.isLimited === true, files);
  const hubPid = place.hub.process.pid ?? 0;
  await probe(place, 1);
  await place.threadTimes();
  const idle = await probe(place, seconds);
  const idleThread = await place.threadTimes();
  const running = await startLoad({ name: load, hub: place.attacked });
  await sleep(SETTLE_MS);
  await running.report();
  await place.threadTimes();
  const [hubFrom, clientFrom, fromMs] = [cpuSeconds(hubPid), cpuSeconds(running.pid), performance.now()];
  const busy = await probe(place, seconds);
  const tookSeconds = (performance.now() - fromMs) / 1000;
  const client = (cpuSeconds(running.pid) - clientFrom) / tookSeconds;
  const hub = (cpuSeconds(hubPid) - hubFrom) / tookSeconds;
  const busyThread = await place.threadTimes();
  const served = await running.report();
  await running.end();
  await sleep(SETTLE_MS);
  // What the main thread needs for the calls of the probe is used again while the rest is burned.
  const ownCalls = idleThread.runs * (countOf(busy) / countOf(idle));
  const used = {
    client,
    main: Math.max(0, busyThread.runs - ownCalls),
    others: Math.max(0, hub - busyThread.runs),
  };
  const alone = await burned(place, used, seconds);
  const thread = { idle: idleThread, busy: busyThread };
  return { build: build.name, load, idle, busy, burned: alone, used, thread, served };
}

const countOf = ({ ms }: Times) => Object.values(ms).reduce((sum, { length }) => sum + length, 0);

const at = (times: Times, question: string, share: number) => percentile(times.ms[question] ?? [], share);

function ratios(of: Times, to: Times, share: number): number[] {
  return Object.keys(to.ms).map((question) => at(of, question, share) / at(to, question, share));
}

const told = (values: readonly number[], digits = 1) => values.map((value) => value.toFixed(digits)).join(' · ');

function rowOf(measured: Measured, isAlone: boolean): Row {
  const { build, load, idle, busy, served, used, thread } = measured;
  const names = Object.keys(idle.ms);
  const p99 = ratios(busy, idle, 0.99);
  const alone = ratios(measured.burned, idle, 0.99);
  const refused = busy.refused + idle.refused;
  const count = Object.entries(served).map(([status, answers]) => `${answers} × ${status}`);
  note(
    `${build}, ${load}: p99 ${told(p99)}, p50 ${told(ratios(busy, idle, 0.5))}, others refused ${refused}, load ${count.join(', ') || 'none'}`,
  );
  note(
    `  cores used by the client ${told([used.client], 2)}, by the hub ${told([used.main, used.others], 2)} (main, others)`,
  );
  note(`  the same burned elsewhere: p99 ${told(alone)}, p50 ${told(ratios(measured.burned, idle, 0.5))}`);
  note(
    `  load / burned: p99 ${told(ratios(busy, measured.burned, 0.99))}, p50 ${told(ratios(busy, measured.burned, 0.5))}`,
  );
  note(`  main thread idle: ${toldTimes(thread.idle)}`);
  note(`  main thread busy: ${toldTimes(thread.busy)}`);
  return {
    question: isAlone ? load : `${load} (${build})`,
    cairn: `p99 ${told(names.map((name) => at(busy, name, 0.99)))} ms; ${refused} refused`,
    yardstick: `idle ${told(names.map((name) => at(idle, name, 0.99)))} ms; burned elsewhere ${told(alone)} ×`,
    ratio: told(p99),
    target: `≤ ${FACTOR_MAX}`,
    reached: refused === 0 && p99.every((ratio) => ratio <= FACTOR_MAX),
  };
}

function option(name: string): string[] {
  const start = `--${name}=`;
  return process.argv.filter((word) => word.startsWith(start)).map((word) => word.slice(start.length));
}

export const fair: Bench = async ({ quick, only = '' }) => {
  const trees = option('tree');
  const builds = trees.length === 0 ? [new Build(undefined)] : trees.map((folder) => new Build(folder));
  const seconds = Number(option('seconds')[0] ?? (quick ? QUICK_SECONDS : SECONDS));
  const files = quick ? QUICK_FILES : FILES;
  const wanted = only.split(',');
  const names = Object.keys(LOADS).filter((name) => wanted.some((part) => name.includes(part)));
  if (isPinned) pin(process.pid, CLIENT_CORE);
  note('Each row: /health · list_tasks · create_task · download of 64 KiB');
  const rows: Row[] = [];
  try {
    for (const name of names) {
      for (const build of builds) rows.push(rowOf(await measure(build, name, { files, seconds }), builds.length === 1));
    }
  } finally {
    for (const build of builds) await build.stop();
  }
  return rows;
};

await runWhenStarted(import.meta.url, fair);
