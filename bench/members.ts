/**
 * What does a log cost? Durable `create_task` and pushes over 64 connections, uploads of 50 MiB and single writes, with
 * each engine, beside the same hub without a log.
 */
import { rmSync } from 'node:fs';
import { limits } from '../src/limits/service.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { runClient } from './client.ts';
import { type BenchHub, startBenchHub, startStores } from './members/stores.ts';
import { requireTool } from './peers/child.ts';
import { post, pushRate, requestRate, toolCall } from './peers/servers/start.ts';
import { warmMemory } from './peers/warm-memory.ts';
import { type Bench, MiB, note, pairedRow, type Row, runWhenStarted } from './report.ts';
import { percentile } from './steady.ts';

const CONNECTIONS = 64;
const FILES = 10_000;
const ALONE = 'without a log';
const NEW_TASK = JSON.stringify(toolCall('create_task', { content: 'Buy milk' }));

interface Measure {
  readonly question: string;
  readonly unit: string;
  readonly of: (hub: BenchHub) => Promise<number>;
}

const loadOf = ({ headers }: BenchHub) => ({ headers, connections: CONNECTIONS, seconds: 4 });

const MEASURES: readonly Measure[] = [
  {
    question: `durable \`create_task\`, ${CONNECTIONS} connections`,
    unit: '/s',
    of: (hub) => requestRate({ ...loadOf(hub), url: `${hub.cairn.url}/api/mcp`, body: NEW_TASK }),
  },
  {
    question: `durable \`sync_push\` of 1 KiB, ${CONNECTIONS} connections`,
    unit: '/s',
    of: (hub) => pushRate({ ...loadOf(hub), url: `${hub.cairn.url}/api/mcp/tools/sync_push`, files: FILES }),
  },
  {
    question: 'durable upload of 50 MiB, one after another',
    unit: 'MiB/s',
    async of({ cairn: { port }, credential }) {
      const folder = temporaryFolder();
      const job = { connections: 1, requestsPerConnection: 2, bodyBytes: limits.uploadBytesMax, port, credential };
      const { ms } = await runClient(job, () => warmMemory(folder, 4 * limits.uploadBytesMax));
      rmSync(folder, { recursive: true, force: true });
      return (2 * limits.uploadBytesMax * 1000) / MiB / ms;
    },
  },
  { question: '`create_task`, one connection: p50', unit: 'ms', of: (hub) => oneByOne(hub, 0.5) },
  { question: '`create_task`, one connection: p99', unit: 'ms', of: (hub) => oneByOne(hub, 0.99) },
];

/** Milliseconds of writes that wait for one another, at a share of them. */
async function oneByOne({ cairn, headers }: BenchHub, share: number): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < 200; at += 1) {
    const startMs = performance.now();
    await post(`${cairn.url}/api/mcp`, headers, NEW_TASK);
    times.push(performance.now() - startMs);
  }
  return percentile(
    times.toSorted((a, b) => a - b),
    share,
  );
}

export const members: Bench = async ({ quick, only }) => {
  requireTool('wrk', 'wrk');
  const rounds = quick ? 1 : 5;
  const stores = await startStores();
  const hubs = new Map<string, BenchHub>();
  try {
    hubs.set(ALONE, await startBenchHub({}));
    hubs.set('folder', await startBenchHub(stores.folder()));
    hubs.set('bucket (Ceph RGW)', await startBenchHub(stores.bucket()));
    hubs.set('PostgreSQL', await startBenchHub(stores.postgres()));
    hubs.set('bucket, CAIRN_LOG_ACK=local', await startBenchHub({ ...stores.bucket(), CAIRN_LOG_ACK: 'local' }));
    const rows: Row[] = [];
    for (const measure of MEASURES.filter(({ question }) => question.includes(only ?? '')))
      rows.push(...(await compare(measure, hubs, rounds)));
    return rows;
  } finally {
    for (const { cairn } of hubs.values()) await cairn.stop();
    stores.end();
  }
};

async function compare({ question, unit, of }: Measure, hubs: Map<string, BenchHub>, rounds: number): Promise<Row[]> {
  const names = [...hubs.keys()];
  const figures = new Map(names.map((name) => [name, [] as number[]]));
  // The first round is warm-up. The order alternates from round to round.
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figure = await of(hubs.get(name) as BenchHub);
      if (round > 0) figures.get(name)?.push(figure);
    }
    if (round > 0)
      note(`${question}: ${names.map((name) => `${name} ${figures.get(name)?.at(-1)?.toFixed(1)}`).join(', ')}`);
  }
  const alone = figures.get(ALONE) ?? [];
  return names
    .filter((name) => name !== ALONE)
    .map((name) =>
      pairedRow({
        question: `${question}: ${name}`,
        yardstickName: ALONE,
        cairn: figures.get(name) ?? [],
        yardstick: alone,
        unit,
        target: undefined,
      }),
    );
}

await runWhenStarted(import.meta.url, members);
