/** Durable `create_task` and pushes over 64 connections, uploads of 50 MiB and single writes, with each engine of a log. */
import { rmSync } from 'node:fs';
import { limits } from '../../src/limits/service.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { runClient } from '../client.ts';
import { requireTool } from '../peers/child.ts';
import { post, pushRate, requestRate, toolCall } from '../peers/servers/start.ts';
import { warmMemory } from '../peers/warm-memory.ts';
import { type BenchOptions, MiB, note, pairedRow, type Row } from '../report.ts';
import { percentile } from '../steady.ts';
import { type BenchHub, type Stores, startBenchHub } from './stores.ts';

const CONNECTIONS = 64;
const FILES = 10_000;
const ALONE = 'without a log';
const NEW_TASK = JSON.stringify(toolCall('create_task', { content: 'Buy milk' }));

interface Measure {
  readonly question: string;
  readonly unit: string;
  /** One figure, or several of one run; `figures` says what each is. */
  readonly of: (hub: BenchHub) => Promise<readonly number[]>;
  readonly figures?: readonly string[];
}

const loadOf = ({ headers }: BenchHub) => ({ headers, connections: CONNECTIONS, seconds: 4 });

const MEASURES: readonly Measure[] = [
  {
    question: `durable \`create_task\`, ${CONNECTIONS} connections`,
    unit: '/s',
    of: async (hub) => [await requestRate({ ...loadOf(hub), url: `${hub.cairn.url}/api/mcp`, body: NEW_TASK })],
  },
  {
    question: `durable \`sync_push\` of 1 KiB, ${CONNECTIONS} connections`,
    unit: '/s',
    of: async (hub) => [
      await pushRate({ ...loadOf(hub), url: `${hub.cairn.url}/api/mcp/tools/sync_push`, files: FILES }),
    ],
  },
  {
    question: 'durable upload of 50 MiB, one after another',
    unit: 'MiB/s',
    async of({ cairn: { port }, credential }) {
      const folder = temporaryFolder();
      const job = { connections: 1, requestsPerConnection: 2, bodyBytes: limits.uploadBytesMax, port, credential };
      const { ms } = await runClient(job, () => warmMemory(folder, 4 * limits.uploadBytesMax));
      rmSync(folder, { recursive: true, force: true });
      return [(2 * limits.uploadBytesMax * 1000) / MiB / ms];
    },
  },
  { question: '`create_task`, one connection', unit: 'ms', of: oneByOne, figures: [': p50', ': p99'] },
];

/** Milliseconds of writes that wait for one another: the median, and what one of a hundred exceeds. */
async function oneByOne({ cairn, headers }: BenchHub): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < 200; at += 1) {
    const startMs = performance.now();
    await post(`${cairn.url}/api/mcp`, headers, NEW_TASK);
    times.push(performance.now() - startMs);
  }
  const rising = times.toSorted((a, b) => a - b);
  return [percentile(rising, 0.5), percentile(rising, 0.99)];
}

/** What a log costs, with each engine beside a hub without one. `only`: the questions that contain this. */
export async function costRows(stores: Stores, { quick, only = '' }: BenchOptions): Promise<Row[]> {
  requireTool('wrk', 'wrk');
  const measures = MEASURES.filter(({ question }) => question.includes(only));
  if (measures.length === 0) return [];
  const hubs = new Map<string, BenchHub>();
  try {
    hubs.set(ALONE, await startBenchHub({}));
    hubs.set('folder', await startBenchHub(stores.folder()));
    hubs.set('bucket (Ceph RGW)', await startBenchHub(stores.bucket()));
    hubs.set('PostgreSQL', await startBenchHub(stores.postgres()));
    hubs.set('bucket, CAIRN_LOG_ACK=local', await startBenchHub({ ...stores.bucket(), CAIRN_LOG_ACK: 'local' }));
    const rows: Row[] = [];
    for (const measure of measures) rows.push(...(await compare(measure, hubs, quick ? 1 : 3)));
    return rows;
  } finally {
    for (const { cairn } of hubs.values()) await cairn.stop();
  }
}

async function compare(measure: Measure, hubs: Map<string, BenchHub>, rounds: number): Promise<Row[]> {
  const { question, unit, of, figures: kinds = [''] } = measure;
  const names = [...hubs.keys()];
  const found = new Map(names.map((name) => [name, kinds.map((): number[] => [])]));
  // The first round is warm-up. The order alternates from round to round.
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figures = await of(hubs.get(name) as BenchHub);
      if (round === 0) continue;
      note(`${question}, ${name}: ${figures.map((figure) => figure.toFixed(1)).join(', ')} ${unit}`);
      for (const [kind, figure] of figures.entries()) found.get(name)?.[kind]?.push(figure);
    }
  }
  return kinds.flatMap((kind, at) =>
    names
      .filter((name) => name !== ALONE)
      .map((name) =>
        pairedRow({
          question: `${question}${kind}: ${name}`,
          yardstickName: ALONE,
          cairn: found.get(name)?.[at] ?? [],
          yardstick: found.get(ALONE)?.[at] ?? [],
          unit,
          target: undefined,
        }),
      ),
  );
}
