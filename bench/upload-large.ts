/**
 * How fast are durable uploads of 50 MiB, one after another and eight at a time, against nginx + fsync, the same with the
 * two digests by openssl, dd, and both digests in memory?
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { limits } from '../src/limits/service.ts';
import type { Credential } from '../test/support/mirror.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { runClient } from './client.ts';
import { type Cairn, startCairn } from './peers/cairn.ts';
import { requireTool, runProgram } from './peers/child.ts';
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
}

const YARDSTICKS = {
  nginx: { name: 'nginx + fsync', target: undefined },
  checked: { name: 'nginx + fsync + SHA-256 and HMAC by openssl', target: 1.2 },
  dd: { name: 'dd', target: undefined },
  digests: { name: 'two digests in memory, all cores', target: 0.6 },
};

type Side = 'cairn' | keyof typeof YARDSTICKS;

const SIDES: readonly Side[] = ['cairn', 'nginx', 'checked', 'dd', 'digests'];

const LOADS: readonly Load[] = [
  { question: 'durable upload of 50 MiB, one after another', connections: 1, requestsPerConnection: 3 },
  { question: 'durable upload of 50 MiB, eight at a time', connections: 8, requestsPerConnection: 1 },
];

export const uploadLarge: Bench = async ({ quick }) => {
  requireTool('openssl', 'openssl');
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
  const measured = new Map<Side, number[]>(SIDES.map((side) => [side, []]));
  // The first round is warm-up. The order rotates from round to round, so that no side always follows the same one.
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of [...SIDES.slice(round % SIDES.length), ...SIDES.slice(0, round % SIDES.length)]) {
      const rate = await rateOf(side, sides, load);
      note(`${load.question}: ${side} ${rate.toFixed(0)} MiB/s${round === 0 ? ' (warm-up)' : ''}`);
      if (round > 0) measured.get(side)?.push(rate);
    }
  }
  const common = { question: load.question, cairn: measured.get('cairn') ?? [], unit: 'MiB/s' };
  return Object.entries(YARDSTICKS).map(([side, { name, target }]) =>
    pairedRow({ ...common, yardstickName: name, yardstick: measured.get(side as Side) ?? [], target }),
  );
}

async function rateOf(side: Side, sides: Sides, load: Load): Promise<number> {
  const { cairn, credential, nginx, source, folder } = sides;
  const { connections, requestsPerConnection } = load;
  const count = connections * requestsPerConnection;
  const mebibytes = (count * limits.uploadBytesMax) / MiB;
  const job = { connections, requestsPerConnection, bodyBytes: limits.uploadBytesMax };
  // Twice the bytes: memory used by a side comes on top of its files.
  const warm = () => warmMemory(folder, 2 * count * limits.uploadBytesMax);
  let ms: number;
  if (side === 'digests') return digestsRate();
  if (side === 'dd') {
    warm();
    ms = await ddCopies(source, folder, count, connections);
  } else {
    const stored = { port: nginx.port, storeFolder: nginx.root, isDigested: side === 'checked' };
    const target = side === 'cairn' ? { port: cairn.port, credential } : stored;
    ms = (await runClient({ ...job, ...target }, warm)).ms;
  }
  for (const file of readdirSync(nginx.root)) rmSync(join(nginx.root, file));
  return (mebibytes * 1000) / ms;
}

/** Resolves with the MiB of content a second of which all cores compute both digests, as openssl measures itself. */
async function digestsRate(): Promise<number> {
  const cores = String(availableParallelism());
  const how = ['speed', '-evp', 'sha256', '-bytes', String(MiB), '-seconds', '1', '-multi', cores];
  const [, kilobytes] = /^sha256\s+([\d.]+)k/m.exec(await runProgram('openssl', how)) ?? [];
  if (kilobytes === undefined) throw new Error('openssl speed told no rate');
  return (Number(kilobytes) * 1000) / MiB / 2;
}

await runWhenStarted(import.meta.url, uploadLarge);
