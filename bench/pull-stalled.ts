/**
 * What do 500 readers cost that start an initial pull and stop reading: memory, the time of other calls and of pushes,
 * pages that LMDB cannot reuse? Compared with nginx and as many stalled readers of the same bytes. All use one
 * account: streams are limited by CAIRN_STREAMS (1000 by default) over all accounts. Its rate limit is off: by
 * default, one key may start 200 pulls at once, and 600 a minute.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../test/support/http.ts';
import { Scrape } from '../test/support/metrics.ts';
import { clockAt, sha256Of } from '../test/support/sync.ts';
import { memoryOf, peakMemory } from './memory.ts';
import { startNginx } from './peers/nginx.ts';
import { openReaderTable, type ReaderTable } from './peers/reader-table.ts';
import { fillTasks, toolCall } from './peers/servers/start.ts';
import { pullVault, startVaultHub, type VaultHub } from './peers/vault-hub.ts';
import { requestText } from './raw-request.ts';
import { type Readers, startReaders } from './readers.ts';
import { type Bench, MiB, note, type Row, runWhenStarted, shown, summarize } from './report.ts';
import { percentile, runSteady, type SteadyTimes } from './steady.ts';

const FILES = 100_000;
const READERS = 500;
const TASKS = 25;
/** Calls and pushes per second, half of each. */
const PER_SECOND = 100;
/** Less than the 30 s after which the hub disconnects stalled readers. */
const SECONDS = 15;
const CUT_OFF_SECONDS_MAX = 60;
const PUSH_BYTES = 1024;
const PUSHED_FILES = 200;
const METRICS_TOKEN = 'a-token-of-the-bench-to-read-metrics';
/** Memory limit per reader: "a few MiB". */
const READER_BYTES_MAX = 2 * MiB;
/** Maximum ratio to the figure without stalled readers. */
const HURT_TIMES_MAX = 2;

/** Measurements of the other client. */
interface Seen {
  readonly callMs: number;
  readonly pushMs: number;
  /** Growth of the data file per push, in bytes. */
  readonly grownBytes: number;
}

interface Round {
  readonly idle: Seen;
  readonly stalled: Seen;
  readonly readerBytes: number;
  readonly oldestBehind: number;
  readonly cutOffSeconds: number;
}

export const pullStalled: Bench = async ({ quick }) => {
  const nginx = await startNginx(1);
  const hub = await startVaultHub(FILES, { CAIRN_METRICS_TOKEN: METRICS_TOKEN });
  let table: ReaderTable | undefined;
  try {
    const { headers } = hub;
    writeFileSync(join(nginx.root, 'vault.ndjson'), await pullVault(hub));
    writeFileSync(join(nginx.root, 'small.json'), 'x'.repeat(6000));
    await fillTasks(hub.cairn, { ...headers, Accept: 'application/json' }, TASKS);
    table = openReaderTable(hub.dataFile);
    const rounds: Round[] = [];
    const nginxTimes: number[] = [];
    for (let round = 0; round < (quick ? 1 : 3); round += 1) {
      rounds.push(await measureHub(hub, table));
      nginxTimes.push(await measureNginx(nginx.port, nginx.url));
    }
    return rowsOf(rounds, nginxTimes);
  } finally {
    await table?.close();
    await hub.stop();
    await nginx.stop();
  }
};

async function measureHub(hub: VaultHub, table: ReaderTable): Promise<Round> {
  const { port, pid } = hub.cairn;
  const idle = await otherClient(hub, table);
  const before = memoryOf(pid).RssAnon;
  const { result, peak } = await peakMemory([pid], async () => {
    const request = requestText({ url: hub.url, headers: hub.headers, body: hub.pull });
    const readers = await startReaders({ port, request, connections: READERS, bytesPerSecond: 0 });
    const startedMs = performance.now();
    const snapshots = watchSnapshots(table);
    const stalled = await otherClient(hub, table);
    const streams = await openStreams(hub);
    if (streams !== READERS) throw new Error(`${streams} of ${READERS} stalled streams were still there`);
    return { stalled, oldestBehind: snapshots(), cutOffSeconds: await cutOff(hub, readers, startedMs) };
  });
  const round = { idle, ...result, readerBytes: (peak.RssAnon - before) / READERS };
  note(
    `${READERS} stalled readers, ${(round.readerBytes / 1024).toFixed(0)} KiB each, cut off after ${round.cutOffSeconds.toFixed(0)} s: ` +
      `call p99 ${round.stalled.callMs.toFixed(1)} ms (idle ${idle.callMs.toFixed(1)}), push p99 ${round.stalled.pushMs.toFixed(1)} ms ` +
      `(idle ${idle.pushMs.toFixed(1)}), the oldest snapshot ${round.oldestBehind} commits behind`,
  );
  return round;
}

/** Sends calls and pushes at a fixed rate. */
async function otherClient({ url, headers, cairn }: VaultHub, table: ReaderTable): Promise<Seen> {
  const plain = { ...headers, Accept: 'application/json' };
  const small = requestText({ url, headers: plain, body: JSON.stringify(toolCall('list_tasks', {})) });
  const requests = Array.from({ length: SECONDS * PER_SECOND }, (_, index) =>
    index % 2 === 0
      ? { name: 'call', text: small }
      : { name: 'push', text: requestText({ url: `${url}/tools/sync_push`, headers: plain, body: nextPush() }) },
  );
  const before = table.bytes();
  const times = await runSteady({ port: cairn.port, requests, perSecond: PER_SECOND });
  const grownBytes = (table.bytes() - before) / (requests.length / 2);
  return { callMs: p99(times, 'call'), pushMs: p99(times, 'push'), grownBytes };
}

function p99(times: SteadyTimes, name: string): number {
  return percentile(times[name] ?? [], 0.99);
}

let pushes = 0;

/** Returns a push that overwrites one of a few files. */
function nextPush(): string {
  pushes += 1;
  const content = `${pushes} `.repeat(PUSH_BYTES).slice(0, PUSH_BYTES);
  const path = `rewritten/note-${pushes % PUSHED_FILES}.md`;
  return JSON.stringify({
    path,
    content,
    sha256: sha256Of(content),
    hlc: clockAt(Date.now(), pushes % 0x10000),
    device_id: 'steady',
  });
}

/** Checks ten times a second. The returned function stops it and returns the oldest snapshot's age in commits. */
function watchSnapshots(table: ReaderTable): () => number {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, table.oldestBehind());
  }, 100);
  return () => {
    clearInterval(timer);
    return most;
  };
}

async function openStreams({ cairn }: VaultHub): Promise<number> {
  const answer = await call(cairn, '/metrics', { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  return new Scrape(answer.text).sum('cairn_streams');
}

/** Resolves with the seconds until the hub has disconnected all readers, as seen by each of them. */
async function cutOff(hub: VaultHub, readers: Readers, startedMs: number): Promise<number> {
  const seconds = () => (performance.now() - startedMs) / 1000;
  while ((await openStreams(hub)) > 0) {
    if (seconds() > CUT_OFF_SECONDS_MAX) throw new Error('stalled readers are still served');
    await sleep(200);
  }
  const after = seconds();
  // Bytes already buffered by the system still arrive, but no more.
  const { ended } = await readers.drain(32 * MiB);
  if (ended !== READERS) throw new Error(`${ended} of ${READERS} stalled connections were ended`);
  await readers.stop();
  return after;
}

/** Returns the slowdown of a small file. */
async function measureNginx(port: number, url: string): Promise<number> {
  const headers = { 'User-Agent': 'bench/1' };
  const small = requestText({ url: `${url}/small.json`, headers });
  const requests = Array.from({ length: SECONDS * PER_SECOND }, () => ({ name: 'call', text: small }));
  const once = async () => p99(await runSteady({ port, requests, perSecond: PER_SECOND }), 'call');
  const idle = await once();
  const request = requestText({ url: `${url}/vault.ndjson`, headers });
  const readers = await startReaders({ port, request, connections: READERS, bytesPerSecond: 0 });
  const stalled = await once();
  await readers.stop();
  note(`nginx: small file p99 ${stalled.toFixed(1)} ms with ${READERS} stalled readers (idle ${idle.toFixed(1)})`);
  return stalled / idle;
}

function rowsOf(rounds: readonly Round[], nginx: readonly number[]): Row[] {
  const readerBytes = rounds.map((round) => round.readerBytes);
  const memory: Row = {
    question: `${READERS} readers of an initial pull that stopped: RssAnon above idle, each`,
    cairn: shown(
      readerBytes.map((bytes) => bytes / 1024),
      'KiB',
    ),
    yardstick: `cut off after ${shown(
      rounds.map(({ cutOffSeconds }) => cutOffSeconds),
      's',
    )}`,
    ratio: '',
    target: `≤ ${READER_BYTES_MAX / 1024} KiB`,
    reached: summarize(readerBytes).median <= READER_BYTES_MAX,
  };
  const snapshots: Row = {
    question: 'the same: bytes by which the data file grows for a push of 1 KiB to one of 200 files',
    cairn: `${shown(
      rounds.map(({ stalled }) => stalled.grownBytes),
      '',
    )}, oldest snapshot ${shown(
      rounds.map(({ oldestBehind }) => oldestBehind),
      '',
    )} commits behind`,
    yardstick: `without them ${shown(
      rounds.map(({ idle }) => idle.grownBytes),
      '',
    )}`,
    ratio: '',
    target: '',
    reached: undefined,
  };
  return [
    memory,
    hurtRow('list_tasks', rounds, ({ callMs }) => callMs, nginx),
    hurtRow('sync_push', rounds, ({ pushMs }) => pushMs),
    snapshots,
  ];
}

function hurtRow(what: string, rounds: readonly Round[], of: (seen: Seen) => number, nginx?: readonly number[]): Row {
  const times = rounds.map(({ idle, stalled }) => of(stalled) / of(idle));
  return {
    question: `the same: p99 of ${what} of another client at ${PER_SECOND / 2}/s`,
    cairn: `${shown(
      rounds.map(({ stalled }) => of(stalled)),
      'ms',
      1,
    )}, without them ${shown(
      rounds.map(({ idle }) => of(idle)),
      'ms',
      1,
    )}`,
    yardstick: nginx === undefined ? '' : `nginx, a small file: ${shown(nginx, '', 2)} times`,
    ratio: shown(times, '', 2),
    target: `≤ ${HURT_TIMES_MAX} times`,
    reached: summarize(times).median <= HURT_TIMES_MAX,
  };
}

await runWhenStarted(import.meta.url, pullStalled);
