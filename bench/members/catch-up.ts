/** How fast a member reads what it lacks: one that joins, and one that was away. */
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../src/limits/service.ts';
import { decodeRecord } from '../../src/replication/frame.ts';
import { openCommitLog } from '../../src/replication/log/open.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { runClient } from '../client.ts';
import { fill, pushRate } from '../peers/servers/start.ts';
import { type BenchOptions, MiB, note, type Row } from '../report.ts';
import { type LogSettings, type Stores, startBenchHub, startMember, untilState } from './stores.ts';

/** A member's data file, and how long it took to have it. */
interface CaughtUp {
  readonly dataMiB: number;
  readonly ms: number;
}

const dataMiB = (folder: string) => statSync(join(folder, 'cairn.mdb')).size / MiB;

/** A hub that is written to while one member is away; then that member comes back, and another one joins. */
async function catchUp(settings: LogSettings, seconds: number): Promise<Record<'away' | 'joining', CaughtUp>> {
  const { cairn, headers, credential } = await startBenchHub({ CAIRN_MEMBER: 'west', ...settings });
  const east = await startMember('east', settings);
  await untilState(east, 'following');
  const before = dataMiB(east.data);
  await east.cairn.stop();
  await pushRate({ headers, connections: 64, seconds, url: `${cairn.url}/api/mcp/tools/sync_push`, files: 1e6 });
  await fill(cairn, headers, { tool: 'create_task', count: 20_000, argumentsOf: (at) => ({ content: `Task ${at}` }) });
  const uploads = { connections: 1, requestsPerConnection: 2, bodyBytes: limits.uploadBytesMax };
  await runClient({ ...uploads, port: cairn.port, credential });
  const back = await startMember('east', settings, east.data);
  const awayMs = await untilState(back, 'following');
  const away = { dataMiB: dataMiB(back.data) - before, ms: awayMs };
  const joined = await startMember('north', settings);
  const joiningMs = await untilState(joined, 'following');
  const joining = { dataMiB: dataMiB(joined.data), ms: joiningMs };
  for (const member of [cairn, back.cairn, joined.cairn]) await member.stop();
  return { away, joining };
}

/** The same bytes without a member: the files of a folder copied to one that is on disk, or records and parts read. */
async function plainMs(settings: LogSettings): Promise<number> {
  const url = settings['CAIRN_LOG'] ?? '';
  const startMs = performance.now();
  if (url.startsWith('file://')) {
    const copy = openSync(join(temporaryFolder(), 'copy'), 'w');
    for (const entry of readdirSync(new URL(url), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) writeSync(copy, readFileSync(join(entry.parentPath, entry.name)));
    fsyncSync(copy);
    closeSync(copy);
    return performance.now() - startMs;
  }
  const log = await openCommitLog(url, settings);
  for await (const { bytes } of log.read(1)) {
    const { rows } = await decodeRecord(bytes);
    await Promise.all(rows.flatMap(({ part }) => (part === undefined ? [] : [log.getPart(part.name)])));
  }
  await log.close();
  return performance.now() - startMs;
}

/** With each engine. */
export async function catchUpRows(stores: Stores, { quick }: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, settings, plain] of [
    ['folder', stores.folder(), 'a synced copy of the log'],
    ['bucket (Ceph RGW)', stores.bucket(), 'reading the same objects'],
    ['PostgreSQL', stores.postgres(), 'reading the same rows'],
  ] as const) {
    const found = await catchUp(settings, quick ? 3 : 10);
    const yardstickMs = await plainMs(settings);
    for (const [who, { dataMiB: size, ms }] of Object.entries(found)) {
      const cairn = `${((size * 1000) / ms).toFixed(1)} MiB/s (${size.toFixed(0)} MiB in ${(ms / 1000).toFixed(1)} s)`;
      const question = `catching up, ${who === 'away' ? 'a follower that was away' : 'a member that joins'}: ${name}`;
      const yardstick = `${plain}: ${(yardstickMs / 1000).toFixed(1)} s`;
      note(`${question}: ${cairn}; ${yardstick}`);
      rows.push({ question, cairn, yardstick, ratio: (yardstickMs / ms).toFixed(2), target: '', reached: undefined });
    }
  }
  return rows;
}
