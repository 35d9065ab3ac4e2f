/**
 * What does a load of one account, or of strangers, cost everybody else? For each load of `fair/loads.ts`: the response
 * times of other callers before and during it, in one run. The load comes from a process of its own, at the least
 * priority, on the cores of the hub; the calls of the others come from this one.
 *
 * `--tree=FOLDER`, repeatable: measures the build in this folder; several are measured in turns. `--only=A,B`: only the
 * loads whose name contains one of these. `--seconds=N`: of each measurement (default 9). `--quick`: a tenth of the
 * files, and three seconds.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toolRequest } from '../test/support/gateway.ts';
import { AGENT } from '../test/support/http.ts';
import { CAIRN, type Hub, startHub } from '../test/support/hub.ts';
import { type Account, type Credential, mirrorAccount, randomCommit, upload } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { fillHub, fillLimited } from './fair/fill.ts';
import type { LoadOrder, LoadReport } from './fair/load-process.ts';
import { type Attacked, LOADS } from './fair/loads.ts';
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

interface Place {
  readonly hub: Hub;
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
    const env = {
      CAIRN_TRUSTED_PROXIES: '127.0.0.1',
      CAIRN_LOOP_DELAY_MS: '500',
      CAIRN_SIGNUP: 'open',
      ...log,
      ...rate,
    };
    const hub = await startHub({ env, script: this.#script });
    const attacked = await (isLimited ? fillLimited(hub) : fillHub(hub, files));
    const commit = randomCommit();
    const others = await Promise.all(
      Array.from({ length: isLimited ? OTHERS_OF_LIMITED : 1 }, () => mirrorAccount(hub)),
    );
    for (const other of others) await upload(hub, other, commit, randomBytes(DOWNLOAD_BYTES));
    return { hub, attacked, others, commit };
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
async function startLoad(order: LoadOrder): Promise<{ report(): Promise<LoadReport>; end(): Promise<void> }> {
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
    report() {
      child.send('report');
      return answer();
    },
    async end() {
      const gone = new Promise((resolved) => child.once('exit', resolved));
      child.kill('SIGKILL');
      await gone;
    },
  };
}

interface Measured {
  readonly build: string;
  readonly load: string;
  readonly idle: Times;
  readonly busy: Times;
  readonly served: LoadReport;
}

async function measure(
  build: Build,
  load: string,
  { files, seconds }: { files: number; seconds: number },
): Promise<Measured> {
  const place = await build.place(LOADS[load]?.isLimited === true, files);
  await probe(place, 1);
  const idle = await probe(place, seconds);
  const running = await startLoad({ name: load, hub: place.attacked });
  await sleep(SETTLE_MS);
  await running.report();
  const busy = await probe(place, seconds);
  const served = await running.report();
  await running.end();
  await sleep(SETTLE_MS);
  return { build: build.name, load, idle, busy, served };
}

const at = (times: Times, question: string, share: number) => percentile(times.ms[question] ?? [], share);

function ratios({ idle, busy }: Measured, share: number): number[] {
  return Object.keys(idle.ms).map((question) => at(busy, question, share) / at(idle, question, share));
}

const told = (values: readonly number[], digits = 1) => values.map((value) => value.toFixed(digits)).join(' · ');

function rowOf(measured: Measured, isAlone: boolean): Row {
  const { build, load, idle, busy, served } = measured;
  const names = Object.keys(idle.ms);
  const p99 = ratios(measured, 0.99);
  const refused = busy.refused + idle.refused;
  const count = Object.entries(served).map(([status, answers]) => `${answers} × ${status}`);
  note(
    `${build}, ${load}: p99 ${told(p99)}, p50 ${told(ratios(measured, 0.5))}, others refused ${refused}, load ${count.join(', ') || 'none'}`,
  );
  return {
    question: isAlone ? load : `${load} (${build})`,
    cairn: `p99 ${told(names.map((name) => at(busy, name, 0.99)))} ms; ${refused} refused`,
    yardstick: `idle ${told(names.map((name) => at(idle, name, 0.99)))} ms`,
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
