/** How fast are durable uploads of 50 MiB, one after another and eight at a time, against nginx + fsync and dd? */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { limits } from '../src/limits/service.ts';
import type { Credential } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { runClient } from './client.ts';
import { type Cairn, startCairn } from './peers/cairn.ts';
import { ddCopies } from './peers/dd.ts';
import { type Nginx, startNginx } from './peers/nginx.ts';
import { warmMemory } from './peers/warm-memory.ts';
import { type Bench, MiB, note, pairedRow, type Row, runWhenStarted } from './report.ts';

interface Sides {
  readonly cairn: Cairn;
  readonly credential: Credential;
  readonly nginx: Nginx;
  readonly source: string;
  readonly folder: string;
}

interface Load {
  readonly question: string;
  readonly connections: number;
  readonly requestsPerConnection: number;
  /** Part of the rate of nginx and fsync to reach. */
  readonly target: number;
}

const LOADS: readonly Load[] = [
  { question: 'durable upload of 50 MiB, one after another', connections: 1, requestsPerConnection: 3, target: 1 },
  { question: 'durable upload of 50 MiB, eight at a time', connections: 8, requestsPerConnection: 1, target: 0.8 },
];

export const uploadLarge: Bench = async ({ quick }) => {
  const nginx = await startNginx(availableParallelism());
  // Room for eight at once; with the default budget three of them would be told to retry.
  const cairn = await startCairn({ CAIRN_INFLIGHT_BYTES: String(8 * limits.uploadBytesMax) });
  const folder = temporaryFolder();
  const source = join(folder, 'source');
  writeFileSync(source, randomBytes(limits.uploadBytesMax));
  try {
    const sides = { cairn, credential: await cairn.account(), nginx, source, folder };
    const rows: Row[] = [];
    for (const load of LOADS) rows.push(...(await measure(sides, load, quick ? 2 : 5)));
    return rows;
  } finally {
    await cairn.stop();
    await nginx.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

async function measure(sides: Sides, load: Load, rounds: number): Promise<Row[]> {
  const measured = { cairn: [] as number[], nginx: [] as number[], dd: [] as number[] };
  // The first round is warm-up. The order rotates from round to round, so that no side always follows the same one.
  for (let round = 0; round <= rounds; round += 1) {
    const order = (['cairn', 'nginx', 'dd'] as const).map((_, index, all) => all[(index + round) % 3] ?? 'dd');
    for (const side of order) {
      const rate = await rateOf(side, sides, load);
      note(`${load.question}: ${side} ${rate.toFixed(0)} MiB/s${round === 0 ? ' (warm-up)' : ''}`);
      if (round > 0) measured[side].push(rate);
    }
  }
  const { question, target } = load;
  const common = { question, cairn: measured.cairn, unit: 'MiB/s' };
  return [
    pairedRow({ ...common, yardstickName: 'nginx + fsync', yardstick: measured.nginx, target }),
    pairedRow({ ...common, yardstickName: 'dd', yardstick: measured.dd, target: undefined }),
  ];
}

async function rateOf(side: 'cairn' | 'nginx' | 'dd', sides: Sides, load: Load): Promise<number> {
  const { cairn, credential, nginx, source, folder } = sides;
  const { connections, requestsPerConnection } = load;
  const count = connections * requestsPerConnection;
  const mebibytes = (count * limits.uploadBytesMax) / MiB;
  const job = { connections, requestsPerConnection, bodyBytes: limits.uploadBytesMax };
  // Twice the bytes: memory used by a side comes on top of its files.
  const warm = () => warmMemory(folder, 2 * count * limits.uploadBytesMax);
  let ms: number;
  if (side === 'dd') {
    warm();
    ms = await ddCopies(source, folder, count, connections);
  } else {
    const target = side === 'cairn' ? { port: cairn.port, credential } : { port: nginx.port, storeFolder: nginx.root };
    ms = (await runClient({ ...job, ...target }, warm)).ms;
  }
  for (const file of readdirSync(nginx.root)) rmSync(join(nginx.root, file));
  return (mebibytes * 1000) / ms;
}

await runWhenStarted(import.meta.url, uploadLarge);
