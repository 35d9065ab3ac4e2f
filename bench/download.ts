/**
 * How fast are downloads of 64 KiB, 1 MiB and 50 MiB, compared with nginx (a worker per core, sendfile), Caddy and `rclone serve`,
 * same bytes?
 */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AGENT, call } from '../test/support/http.ts';
import { type Credential, randomCommit, uploadHeaders } from '../test/support/mirror.ts';
import { autocannon, type Loader, wrk } from './loaders.ts';
import { type Cairn, startCairn } from './peers/cairn.ts';
import { hasTool } from './peers/child.ts';
import { type FileServers, startFileServers } from './peers/file-servers.ts';
import { startNginx } from './peers/nginx.ts';
import { type Bench, type BenchOptions, MiB, missingRow, note, pairedRow, type Row, runWhenStarted } from './report.ts';

const SIZES = [
  { name: '64 KiB', bytes: 64 * 1024, connections: 32, target: 1 },
  { name: '1 MiB', bytes: MiB, connections: 8, target: 1.3 },
  { name: '50 MiB', bytes: 50 * MiB, connections: 4, target: 1.5 },
];

interface Placed {
  readonly size: (typeof SIZES)[number];
  readonly commit: string;
  readonly sha256: string;
}

interface Served {
  readonly question: string;
  readonly bytes: number;
  readonly connections: number;
  /** By side: `cairn`, then its yardsticks. */
  readonly urls: Readonly<Record<string, string>>;
  /** Sent to both sides. */
  readonly headers: Readonly<Record<string, string>>;
}

export const download: Bench = async (options) => {
  const nginx = await startNginx(availableParallelism());
  // nginx writes no access log, so neither does the hub.
  const cairn = await startCairn({ CAIRN_LOG_LEVEL: 'warn' });
  let others: FileServers = {};
  try {
    const credential = await cairn.account();
    const placed: Placed[] = [];
    for (const size of SIZES) placed.push(await place(cairn, nginx.root, credential, size));
    // rclone remembers for minutes what is in a folder, so the files come first.
    others = await startFileServers(nginx.root);
    const rows: Row[] = [];
    for (const file of placed) {
      const { size } = file;
      const served = await serve(cairn, { nginx, ...others }, credential, file);
      if (hasTool('wrk')) rows.push(...(await compare(served, 'wrk', wrk, size.target, options)));
      else rows.push(missingRow(served.question, 'wrk is missing; install it with: apt-get install wrk'));
      // One Node thread receives some 50 MiB/s here: above small bodies autocannon measures only itself.
      if (size.bytes >= MiB) continue;
      const { cairn: own = '', nginx: other = '' } = served.urls;
      const two = { ...served, urls: { cairn: own, nginx: other } };
      rows.push(...(await compare(two, 'autocannon', autocannon, undefined, options)));
    }
    return rows;
  } finally {
    await cairn.stop();
    for (const server of Object.values(others)) await server.stop();
    await nginx.stop();
  }
};

/** Stores the same bytes in the hub and in the folder of the yardsticks. */
async function place(
  cairn: Cairn,
  folder: string,
  credential: Credential,
  size: (typeof SIZES)[number],
): Promise<Placed> {
  const bytes = randomBytes(size.bytes);
  const commit = randomCommit();
  writeFileSync(join(folder, commit), bytes);
  const stored = await call(cairn, '/api/cert_mirror', {
    method: 'POST',
    headers: uploadHeaders(credential, commit, bytes),
    body: bytes,
  });
  if (stored.status !== 200) throw new Error(`the upload was refused: ${stored.text}`);
  return { size, commit, sha256: sha256Of(bytes) };
}

/** Checks one download of each side. */
async function serve(
  cairn: Cairn,
  yardsticks: Readonly<Record<string, { readonly url: string }>>,
  credential: Credential,
  { size, commit, sha256 }: Placed,
): Promise<Served> {
  const others = Object.entries(yardsticks).map(([side, { url }]) => [side, `${url}/${commit}`]);
  const urls: Record<string, string> = {
    cairn: `${cairn.url}/api/cert_mirror/${commit}/download`,
    ...Object.fromEntries(others),
  };
  const headers = { Authorization: `McpKey ${credential.token}`, 'User-Agent': AGENT };
  for (const [side, address] of Object.entries(urls)) {
    const { origin, pathname } = new URL(address);
    const answer = await call({ url: origin }, pathname, { headers });
    if (sha256Of(answer.bytes) !== sha256) throw new Error(`${side} sent other bytes`);
  }
  return {
    question: `download of ${size.name}, ${size.connections} connections`,
    bytes: size.bytes,
    connections: size.connections,
    urls,
    headers,
  };
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function compare(
  served: Served,
  client: string,
  loader: Loader,
  target: number | undefined,
  { quick }: BenchOptions,
): Promise<Row[]> {
  const { question, bytes, connections, urls, headers } = served;
  const seconds = quick ? 2 : 3;
  const sides = Object.keys(urls);
  const rates = Object.fromEntries(sides.map((side) => [side, [] as number[]]));
  // Small answers are counted per second, large ones in MiB/s.
  const perUnit = Math.min(bytes, MiB);
  for (let pair = 0; pair < (quick ? 2 : 5); pair += 1) {
    for (const side of pair % 2 === 0 ? sides : sides.toReversed()) {
      const rate = (await loader({ url: urls[side] ?? '', headers, connections, seconds })) / perUnit;
      rates[side]?.push(rate);
      note(`${question}, ${client}: ${side} ${rate.toFixed(0)}`);
    }
  }
  const { cairn = [], ...yardsticks } = rates;
  return Object.entries(yardsticks).map(([yardstickName, yardstick]) =>
    pairedRow({
      question: `${question} (${client})`,
      yardstickName,
      cairn,
      yardstick,
      unit: bytes < MiB ? '/s' : 'MiB/s',
      target: yardstickName === 'nginx' ? target : undefined,
    }),
  );
}

await runWhenStarted(import.meta.url, download);
