/**
 * How long does nobody serve when the owner of a log is killed, or hands over? How fast does a new member catch up? How
 * many requests does an idle pair send to its bucket?
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCairn } from '../test/support/hub.ts';
import { startRoughBucket } from '../test/support/rough-bucket.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { type LogSettings, startBenchHub, startStores, untilReady } from './members/stores.ts';
import { type Cairn, startCairn } from './peers/cairn.ts';
import { fill, pushRate } from './peers/servers/start.ts';
import { type Bench, MiB, note, type Row, runWhenStarted } from './report.ts';
import { percentile } from './steady.ts';

const LEASE_SECONDS = 3;

const figure = (question: string, cairn: string, yardstick: string): Row => {
  return { question, cairn, yardstick, ratio: '', target: '', reached: undefined };
};

interface Member {
  readonly name: string;
  readonly data: string;
  cairn: Cairn;
}

async function startMember(name: string, settings: LogSettings, data = `${temporaryFolder()}/data`): Promise<Member> {
  const own = { CAIRN_DATA: data, CAIRN_MEMBER: name, CAIRN_LOG_LEVEL: 'warn' };
  return { name, data, cairn: await startCairn({ ...own, ...settings }) };
}

/** Resolves with the milliseconds until a member has a state. */
async function untilState({ cairn }: Pick<Member, 'cairn'>, state: string): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const health = await fetch(`${cairn.url}/health`).then((answer) => answer.json());
    if ((health as { member?: { state: string } }).member?.state === state) return performance.now() - startMs;
    await sleep(10);
  }
}

/** From the end of the old owner to the first `/ready` of the other. */
async function outages(settings: LogSettings, rounds: number): Promise<{ kills: number[]; hands: number[] }> {
  const leased = { ...settings, CAIRN_LEASE_SECONDS: String(LEASE_SECONDS) };
  let owner = await startMember('west', leased);
  await untilReady(owner.cairn);
  let other = await startMember('east', leased);
  const [kills, hands]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await untilState(other, 'following');
    owner.cairn.process.kill('SIGKILL');
    kills.push(await untilReady(other.cairn));
    [owner, other] = [other, await startMember(owner.name, leased, owner.data)];
    await untilState(other, 'following');
    const startMs = performance.now();
    const told = await runCairn(['member', 'hand-over', '--to', other.name], { CAIRN_DATA: owner.data });
    if (told.code !== 0) throw new Error(told.stderr);
    const commandMs = performance.now() - startMs;
    hands.push(await untilReady(other.cairn));
    [owner, other] = [other, owner];
    note(
      `takeover ${kills.at(-1)?.toFixed(0)} ms, hand-over ${hands.at(-1)?.toFixed(0)} ms after its command of ${commandMs.toFixed(0)} ms`,
    );
  }
  await owner.cairn.stop();
  await other.cairn.stop();
  return { kills, hands };
}

const spread = (times: readonly number[]) => {
  const rising = times.toSorted((a, b) => a - b);
  return `p50 ${(percentile(rising, 0.5) / 1000).toFixed(1)} s, p99 ${(percentile(rising, 0.99) / 1000).toFixed(1)} s of ${times.length}`;
};

/** A hub of many pushes, and a member that joins by reading all of its records. */
async function catchUp(
  settings: LogSettings,
  seconds: number,
): Promise<{ rate: number; dataMiB: number; seconds: number }> {
  const { cairn, headers } = await startBenchHub({ CAIRN_MEMBER: 'west', ...settings });
  await pushRate({ headers, connections: 64, seconds, url: `${cairn.url}/api/mcp/tools/sync_push`, files: 1e6 });
  await fill(cairn, headers, { tool: 'create_task', count: 20_000, argumentsOf: (at) => ({ content: `Task ${at}` }) });
  const joining = await startMember('east', settings);
  const ms = await untilState(joining, 'following');
  const dataMiB = statSync(join(joining.data, 'cairn.mdb')).size / MiB;
  await cairn.stop();
  await joining.cairn.stop();
  return { rate: (dataMiB * 1000) / ms, dataMiB, seconds: ms / 1000 };
}

/** Requests of an idle owner and one follower to their bucket, an hour, by method. */
async function idleRequests(bucket: (endpoint: string) => LogSettings, endpoint: string, seconds: number) {
  // It keeps the host that the signature names.
  const relay = await startRoughBucket(endpoint);
  const requests: string[] = [];
  relay.mischief = (method) => {
    requests.push(method);
    return 'none';
  };
  const settings = bucket(relay.endpoint);
  const owner = await startMember('west', settings);
  await untilReady(owner.cairn);
  const counted = async () => {
    await sleep(10_000);
    const before = requests.length;
    await sleep(seconds * 1000);
    const sent = requests.slice(before);
    const hourly = (method: string) => Math.round((sent.filter((one) => one === method).length * 3600) / seconds);
    return { PUT: hourly('PUT'), GET: hourly('GET') };
  };
  const alone = await counted();
  const follower = await startMember('east', settings);
  await untilState(follower, 'following');
  const both = await counted();
  await follower.cairn.stop();
  await owner.cairn.stop();
  relay.close();
  return { alone, both };
}

type Stores = Awaited<ReturnType<typeof startStores>>;

async function outageRows(stores: Stores, quick: boolean): Promise<Row[]> {
  const { kills, hands } = await outages(stores.bucket(), quick ? 2 : 12);
  const silence = `1.2 leases of ${LEASE_SECONDS} s are ${(1.2 * LEASE_SECONDS).toFixed(1)} s`;
  return [
    figure('nobody serves after kill -9 of the owner, bucket', spread(kills), silence),
    figure('nobody serves after the command of a hand-over, bucket', spread(hands), ''),
  ];
}

async function catchUpRows(stores: Stores, quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, settings] of [
    ['folder', stores.folder()],
    ['bucket (Ceph RGW)', stores.bucket()],
    ['PostgreSQL', stores.postgres()],
  ] as const) {
    const { rate, dataMiB, seconds } = await catchUp(settings, quick ? 3 : 15);
    const shown = `${rate.toFixed(1)} MiB/s (a data file of ${dataMiB.toFixed(0)} MiB in ${seconds.toFixed(1)} s)`;
    note(`catching up, ${name}: ${shown}`);
    rows.push(figure(`a new member reads all records, ${name}`, shown, ''));
  }
  return rows;
}

async function idleRows(stores: Stores, quick: boolean): Promise<Row[]> {
  const { alone, both } = await idleRequests(stores.bucket, stores.endpoint, quick ? 20 : 60);
  const hour = ({ PUT, GET }: typeof alone) => `${PUT} PUT and ${GET} GET`;
  return [
    figure('requests of an idle hub an hour, lease of 10 s', hour(alone), ''),
    figure('the same with one follower', hour(both), ''),
  ];
}

/** By the word that `--only` takes. */
const PARTS = { outage: outageRows, 'catch-up': catchUpRows, idle: idleRows } as const;

export const membersChange: Bench = async ({ quick, only }) => {
  const stores = await startStores();
  try {
    const rows: Row[] = [];
    for (const [name, part] of Object.entries(PARTS))
      if (only === undefined || name === only) rows.push(...(await part(stores, quick)));
    return rows;
  } finally {
    stores.end();
  }
};

await runWhenStarted(import.meta.url, membersChange);
