/** How much memory do 200 slow initial pulls of 100,000 files take, against nginx sending the same bytes as slowly? */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf, peakMemory } from './memory.ts';
import { startNginx } from './peers/nginx.ts';
import { pullVault, startVaultHub } from './peers/vault-hub.ts';
import { requestText } from './raw-request.ts';
import { type ReadersJob, startReaders } from './readers.ts';
import { type Bench, MiB, note, type Row, runWhenStarted } from './report.ts';

const FILES = 100_000;
const READERS = 200;
/** Four times the minimum pace: the hub disconnects slower readers. */
const BYTES_PER_SECOND = 64 * 1024;
const ABOVE_IDLE_MAX = 200 * MiB;
/** Lets garbage of the earlier phase be collected. */
const REST_MS = 10_000;

interface Side {
  readonly job: Omit<ReadersJob, 'connections' | 'bytesPerSecond'>;
  readonly pids: readonly number[];
}

interface Measured {
  readonly idle: number;
  readonly peak: number;
}

export const pullMemory: Bench = async ({ quick }) => {
  const nginx = await startNginx(1);
  const hub = await startVaultHub(FILES);
  try {
    writeFileSync(join(nginx.root, 'vault.ndjson'), await pullVault(hub));
    const { headers } = hub;
    const sides = {
      cairn: {
        job: { port: hub.cairn.port, request: requestText({ url: hub.url, headers, body: hub.pull }) },
        pids: [hub.cairn.pid],
      },
      nginx: {
        job: { port: nginx.port, request: requestText({ url: `${nginx.url}/vault.ndjson`, headers }) },
        pids: nginx.pids(),
      },
    };
    await sleep(REST_MS);
    const seconds = quick ? 20 : 90;
    const measured = { cairn: await measure(sides.cairn, seconds), nginx: await measure(sides.nginx, seconds) };
    return [row(measured.cairn, measured.nginx)];
  } finally {
    await hub.stop();
    await nginx.stop();
  }
};

/** Returns the anonymous memory before the readers start, and its peak while they read. */
async function measure({ job, pids }: Side, seconds: number): Promise<Measured> {
  const idle = memoryOf(...pids).RssAnon;
  const { peak } = await peakMemory(pids, async () => {
    const readers = await startReaders({ ...job, connections: READERS, bytesPerSecond: BYTES_PER_SECOND });
    await sleep(seconds * 1000);
    const { bytes, ended } = await readers.report();
    await readers.stop();
    if (ended > 0) throw new Error(`${ended} slow readers were cut off`);
    note(`${READERS} readers took ${(bytes / READERS / seconds / 1024).toFixed(0)} KiB/s each`);
  });
  return { idle, peak: peak.RssAnon };
}

function row(cairn: Measured, nginx: Measured): Row {
  const above = ({ idle, peak }: Measured) => peak - idle;
  const told = (side: Measured) =>
    `${(above(side) / MiB).toFixed(1)} MiB above idle (${(side.idle / MiB).toFixed(0)} MiB)`;
  return {
    question: `${READERS} initial pulls of ${FILES} files at ${BYTES_PER_SECOND / 1024} KiB/s: RssAnon`,
    cairn: told(cairn),
    yardstick: `nginx ${told(nginx)}`,
    ratio: (above(cairn) / above(nginx)).toFixed(1),
    target: `≤ ${ABOVE_IDLE_MAX / MiB} MiB`,
    reached: above(cairn) <= ABOVE_IDLE_MAX,
  };
}

await runWhenStarted(import.meta.url, pullMemory);
