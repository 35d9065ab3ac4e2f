/** How fast are downloads of 64 KiB, 1 MiB and 50 MiB, compared with nginx (a worker per core, sendfile), same bytes? */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AGENT, call } from '../test/support/http.ts';
import { type Credential, randomCommit, uploadHeaders } from '../test/support/mirror.ts';
import { autocannon, type Loader, wrk } from './loaders.ts';
import { type Cairn, startCairn } from './peers/cairn.ts';
import { hasTool } from './peers/child.ts';
import { type Nginx, startNginx } from './peers/nginx.ts';
import { type Bench, type BenchOptions, MiB, missingRow, note, pairedRow, type Row, runWhenStarted } from './report.ts';

const SIZES = [
  { name: '64 KiB', bytes: 64 * 1024, connections: 32, target: 1 },
  { name: '1 MiB', bytes: MiB, connections: 8, target: 1.3 },
  { name: '50 MiB', bytes: 50 * MiB, connections: 4, target: 1.5 },
];

interface Served {
  readonly question: string;
  readonly bytes: number;
  readonly connections: number;
  readonly urls: Readonly<Record<'cairn' | 'nginx', string>>;
  /** Sent to both sides. */
  readonly headers: Readonly<Record<string, string>>;
}

export const download: Bench = async (options) => {
  const nginx = await startNginx(availableParallelism());
  // nginx writes no access log, so neither does the hub.
  const cairn = await startCairn({ CAIRN_LOG_LEVEL: 'warn' });
  try {
    const credential = await cairn.account();
    const rows: Row[] = [];
    for (const size of SIZES) {
      const served = await place(cairn, nginx, credential, size);
      if (hasTool('wrk')) rows.push(await compare(served, 'wrk', wrk, size.target, options));
      else rows.push(missingRow(served.question, 'wrk is missing; install it with: apt-get install wrk'));
      // One Node thread receives some 50 MiB/s here: above small bodies autocannon measures only itself.
      if (size.bytes < MiB) rows.push(await compare(served, 'autocannon', autocannon, undefined, options));
    }
    return rows;
  } finally {
    await cairn.stop();
    await nginx.stop();
  }
};

/** Stores the same bytes on both sides, and checks one download of each. */
async function place(
  cairn: Cairn,
  nginx: Nginx,
  credential: Credential,
  size: (typeof SIZES)[number],
): Promise<Served> {
  const bytes = randomBytes(size.bytes);
  const commit = randomCommit();
  writeFileSync(join(nginx.root, commit), bytes);
  const stored = await call(cairn, '/api/cert_mirror', {
    method: 'POST',
    headers: uploadHeaders(credential, commit, bytes),
    body: bytes,
  });
  if (stored.status !== 200) throw new Error(`the upload was refused: ${stored.text}`);
  const paths = { cairn: `/api/cert_mirror/${commit}/download`, nginx: `/${commit}` };
  const headers = { Authorization: `McpKey ${credential.token}`, 'User-Agent': AGENT };
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  for (const side of ['cairn', 'nginx'] as const) {
    const answer = await call(side === 'cairn' ? cairn : nginx, paths[side], { headers });
    if (createHash('sha256').update(answer.bytes).digest('hex') !== sha256) throw new Error(`${side} sent other bytes`);
  }
  return {
    question: `download of ${size.name}, ${size.connections} connections`,
    bytes: size.bytes,
    connections: size.connections,
    urls: { cairn: cairn.url + paths.cairn, nginx: nginx.url + paths.nginx },
    headers,
  };
}

async function compare(
  served: Served,
  client: string,
  loader: Loader,
  target: number | undefined,
  { quick }: BenchOptions,
): Promise<Row> {
  const { question, bytes, connections, urls, headers } = served;
  const seconds = quick ? 2 : 3;
  const rates = { cairn: [] as number[], nginx: [] as number[] };
  // Small answers are counted per second, large ones in MiB/s.
  const perUnit = Math.min(bytes, MiB);
  for (let pair = 0; pair < (quick ? 2 : 5); pair += 1) {
    for (const side of pair % 2 === 0 ? (['cairn', 'nginx'] as const) : (['nginx', 'cairn'] as const)) {
      rates[side].push((await loader({ url: urls[side], headers, connections, seconds })) / perUnit);
    }
    note(`${question}, ${client}: cairn ${rates.cairn.at(-1)?.toFixed(0)}, nginx ${rates.nginx.at(-1)?.toFixed(0)}`);
  }
  return pairedRow({
    question: `${question} (${client})`,
    yardstickName: 'nginx',
    cairn: rates.cairn,
    yardstick: rates.nginx,
    unit: bytes < MiB ? '/s' : 'MiB/s',
    target,
  });
}

await runWhenStarted(import.meta.url, download);
