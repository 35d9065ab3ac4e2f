/**
 * What does a load of one account, or of strangers, cost everybody else? For each load of `fair/loads.ts`: the response
 * times of other callers before and during it, in one run. The load comes from a process of its own, at the least
 * priority, on the cores of the hub; the calls of the others come from this one. Then the same without the load, while
 * foreign processes use as much of the machine, at the same priorities, as the client of the load and the threads of the
 * hub did: what those cores cost by themselves. Then the same calls and the same load on the HTTP library with nothing
 * behind it (`fair/floor-process.ts`): what the load costs whoever answers it. So a load that misses the target is told
 * apart: the machine's, or ours (`causeOf`). Also told: what the hub's main thread did (`fair/thread-probe.ts`).
 *
 * `--pinned`: the hub has one core, and all clients another one.
 * `--tree=FOLDER`, repeatable: measures the build in this folder; several are measured in turns. `--only=A,B`: only the
 * loads whose name contains one of these. `--seconds=N`: of each measurement (default 6). `--rounds=N`: each load is
 * measured so many times in turns with its own idle time, and a row tells all calls together (default 1): the response
 * times of an idle machine differ by several times from minute to minute. `--quick`: a tenth of the files, and three seconds.
 */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../src/limits/service.ts';
import { toolRequest } from '../test/support/gateway.ts';
import { CAIRN, type Hub, startHub } from '../test/support/hub.ts';
import { type Account, type Credential, mirrorAccount, randomCommit, upload } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { cpuSeconds } from './cpu-seconds.ts';
import { takeReport } from './delays.ts';
import { fillHub, fillLimited } from './fair/fill.ts';
import { atFloor, childOf, ended, LEAST_PRIORITY, Recorded, startFloor, startLoad } from './fair/load.ts';
import type { LoadReport } from './fair/load-process.ts';
import { type Attacked, LOADS } from './fair/loads.ts';
import {
  type Asked,
  at,
  type Cause,
  type Compared,
  causeOf,
  countOf,
  FACTOR_MAX,
  pooled,
  probe,
  type Questions,
  ratios,
  type Times,
} from './fair/probe.ts';
import { type ThreadTimes, threadProbe, toldTimes } from './fair/thread-times.ts';
import { type Bench, note, type Row, runWhenStarted } from './report.ts';

const FILES = 10_000;
const QUICK_FILES = 1000;
const SECONDS = 6;
const QUICK_SECONDS = 3;
const SETTLE_MS = 1500;
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

/** What others ask for. */
function questions({ commit, others }: Place, round: number): Questions {
  const { mcp_key: key, token } = others[round % others.length] as Person;
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

const probePlace = (place: Place, seconds: number) => probe(place.hub.url, (round) => questions(place, round), seconds);

/** The same calls and the same load on the HTTP library alone, which answers with the bytes that the hub answered with. */
interface AtFloor {
  readonly idle: Times;
  readonly busy: Times;
}

async function measureFloor(place: Place, load: string, recorded: Recorded, seconds: number): Promise<AtFloor> {
  const floor = await startFloor(recorded.folder);
  if (isPinned) pin(floor.pid, HUB_CORE);
  const probeFloor = (forSeconds: number) => probe(floor.url, (round) => atFloor(questions(place, round)), forSeconds);
  try {
    await probeFloor(1);
    const idle = await probeFloor(seconds);
    const running = await startLoad({ name: load, hub: place.attacked, floor: floor.url });
    await sleep(SETTLE_MS);
    const busy = await probeFloor(seconds);
    await running.end();
    return { idle, busy };
  } finally {
    await floor.end();
  }
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
  const children: ChildProcess[] = [];
  const burn = (share: number, nice: number, core: string) => {
    for (let left = share; left > 0.01; left -= 1) {
      const child = childOf('./burn-process.js', [String(Math.min(left, 1)), String(nice)]);
      if (isPinned) pin(child.pid ?? 0, core);
      children.push(child);
    }
  };
  burn(client, LEAST_PRIORITY, CLIENT_CORE);
  burn(main, 0, HUB_CORE);
  burn(others, limits.poolNice, HUB_CORE);
  await Promise.all(children.map((child) => new Promise((resolved) => child.once('message', resolved))));
  try {
    return await probePlace(place, seconds);
  } finally {
    for (const child of children) await ended(child);
  }
}

function pin(pid: number, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}

/** The response times of a load. */
interface Measured {
  readonly build: string;
  readonly load: string;
  readonly idle: Times;
  readonly busy: Times;
  readonly burned: Times;
  readonly floor: AtFloor;
}

/** One measurement of it. */
interface Round extends Measured {
  readonly used: Used;
  readonly thread: { readonly idle: ThreadTimes; readonly busy: ThreadTimes };
  readonly served: LoadReport;
}

async function measure(
  build: Build,
  load: string,
  { files, seconds }: { files: number; seconds: number },
): Promise<Round> {
  const place = await build.place(LOADS[load]?.isLimited === true, files);
  const hubPid = place.hub.process.pid ?? 0;
  const recorded = new Recorded();
  await probePlace(place, 1);
  await recorded.questions(place.hub.url, questions(place, 0));
  await place.threadTimes();
  const idle = await probePlace(place, seconds);
  const idleThread = await place.threadTimes();
  const running = await startLoad({ name: load, hub: place.attacked, keep: recorded.ofLoad });
  await sleep(SETTLE_MS);
  await running.report();
  await place.threadTimes();
  const [hubFrom, clientFrom, fromMs] = [cpuSeconds(hubPid), cpuSeconds(running.pid), performance.now()];
  const busy = await probePlace(place, seconds);
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
  const floor = await measureFloor(place, load, recorded, seconds);
  const thread = { idle: idleThread, busy: busyThread };
  return { build: build.name, load, idle, busy, burned: alone, floor, used, thread, served };
}

const told = (values: readonly number[], digits = 1) => values.map((value) => value.toFixed(digits)).join(' · ');

/** What a cause means in a table. */
const CAUSES: Readonly<Record<Cause, string>> = {
  holds: 'holds',
  machine: "no more than the bare library's, or than beside the same processor time elsewhere",
  ours: 'ours',
};

function comparedOf({ idle, busy, burned: alone, floor }: Measured): Compared {
  return {
    cairn: ratios(busy, idle, 0.99),
    floor: ratios(floor.busy, floor.idle, 0.99),
    burned: ratios(alone, idle, 0.99),
  };
}

/** The calls of several rounds as if of one. */
function together([first, ...rest]: readonly [Round, ...Round[]]): Measured {
  const { build, load } = first;
  const all = (timesOf: (round: Round) => Times) => pooled([first, ...rest].map(timesOf));
  const floor = { idle: all((round) => round.floor.idle), busy: all((round) => round.floor.busy) };
  return {
    build,
    load,
    idle: all(({ idle }) => idle),
    busy: all(({ busy }) => busy),
    burned: all((round) => round.burned),
    floor,
  };
}

function tellRound(round: Round): void {
  const { build, load, idle, busy, served, used, thread, floor } = round;
  const names = Object.keys(idle.ms);
  const compared = comparedOf(round);
  const count = Object.entries(served).map(([status, answers]) => `${answers} × ${status}`);
  note(
    `${build}, ${load}: p99 ${told(compared.cairn)}, p50 ${told(ratios(busy, idle, 0.5))}, others refused ${busy.refused + idle.refused}, load ${count.join(', ') || 'none'}`,
  );
  note(
    `  cores used by the client ${told([used.client], 2)}, by the hub ${told([used.main, used.others], 2)} (main, others)`,
  );
  note(`  the same burned elsewhere: p99 ${told(compared.burned)}, p50 ${told(ratios(round.burned, idle, 0.5))}`);
  note(`  load / burned: p99 ${told(ratios(busy, round.burned, 0.99))}, p50 ${told(ratios(busy, round.burned, 0.5))}`);
  note(
    `  the bare library: p99 ${told(compared.floor)}, idle ${told(names.map((name) => at(floor.idle, name, 0.99)))} ms, busy ${told(names.map((name) => at(floor.busy, name, 0.99)))} ms`,
  );
  note(`  main thread idle: ${toldTimes(thread.idle)}`);
  note(`  main thread busy: ${toldTimes(thread.busy)}`);
}

function rowOf(measured: Measured, isAlone: boolean): Row {
  const { build, load, idle, busy } = measured;
  const names = Object.keys(idle.ms);
  const compared = comparedOf(measured);
  const refused = busy.refused + idle.refused;
  const cause = causeOf(compared, refused);
  return {
    question: isAlone ? load : `${load} (${build})`,
    cairn: `p99 ${told(names.map((name) => at(busy, name, 0.99)))} ms; ${refused} refused`,
    yardstick: `idle ${told(names.map((name) => at(idle, name, 0.99)))} ms; bare library ${told(compared.floor)} ×; burned elsewhere ${told(compared.burned)} ×`,
    ratio: told(compared.cairn),
    target: `≤ ${FACTOR_MAX}: ${CAUSES[cause]}`,
    reached: cause === 'holds',
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
  const rounds = Number(option('rounds')[0] ?? 1);
  const files = quick ? QUICK_FILES : FILES;
  const wanted = only.split(',');
  const names = Object.keys(LOADS).filter((name) => wanted.some((part) => name.includes(part)));
  if (isPinned) pin(process.pid, CLIENT_CORE);
  note('Each row: /health · list_tasks · create_task · download of 64 KiB');
  const rows: Row[] = [];
  try {
    for (const name of names) {
      const measured = new Map<Build, Round[]>(builds.map((build) => [build, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const [build, list] of measured) {
          const one = await measure(build, name, { files, seconds });
          tellRound(one);
          list.push(one);
        }
      }
      for (const [first, ...rest] of measured.values()) {
        if (first !== undefined) rows.push(rowOf(together([first, ...rest]), builds.length === 1));
      }
    }
  } finally {
    for (const build of builds) await build.stop();
  }
  return rows;
};

await runWhenStarted(import.meta.url, fair);
