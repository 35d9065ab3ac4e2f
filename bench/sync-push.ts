/** How many durable sync_push of 1 KiB per second over 64 connections, against fastify + better-sqlite3, and LMDB? */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clockAt, sha256Of } from '../test/support/sync.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { requireTool, runProgram } from './peers/child.ts';
import { installServers, post, pushRate, startServer, startTaskHub } from './peers/servers/start.ts';
import { type Bench, missingRow, note, pairedRow, runWhenStarted } from './report.ts';

const CONNECTIONS = 64;
const BYTES = 1024;
/** Pushes cycle through these files, so most of a run updates existing files. */
const FILES = 10_000;
const QUESTION = `durable sync_push of 1 KiB, ${CONNECTIONS} connections`;
const RAW_LMDB = fileURLToPath(new URL('./peers/raw-lmdb.js', import.meta.url));
const RAW_PUTS = 60_000;

export const syncPush: Bench = async ({ quick }) => {
  requireTool('wrk', 'wrk');
  const missing = await installServers();
  const rounds = quick ? 2 : 5;
  const seconds = quick ? 2 : 4;
  const folder = temporaryFolder();
  const hub = await startTaskHub(0);
  const sqlite = missing === undefined ? await startServer('sync-sqlite.mjs', join(folder, 'sync.db')) : undefined;
  const rates = { cairn: [] as number[], sqlite: [] as number[], raw: [] as number[] };
  const url = `${hub.cairn.url}/api/mcp/tools/sync_push`;
  const load = { headers: hub.headers, connections: CONNECTIONS, files: FILES };
  const run = {
    cairn: () => pushRate({ ...load, url, seconds }),
    async sqlite() {
      return sqlite === undefined ? Number.NaN : await pushRate({ ...load, url: `${sqlite.url}/push`, seconds });
    },
    async raw() {
      const args = [RAW_LMDB, join(folder, 'raw.mdb'), String(RAW_PUTS), String(CONNECTIONS), String(BYTES)];
      return (RAW_PUTS * 1000) / Number(await runProgram(process.execPath, args));
    },
  };
  try {
    const sides = ['cairn', 'sqlite', 'raw'] as const;
    // The first round is warm-up: it creates the files. The order alternates from round to round.
    for (let round = 0; round <= rounds; round += 1) {
      const before = await newestSeq(url, hub.headers);
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const rate = await run[side]();
        if (round > 0) rates[side].push(rate);
      }
      const taken = (await newestSeq(url, hub.headers)) - before - 1;
      const shown = sides.map((side) => `${side} ${rates[side].at(-1)?.toFixed(0)}`).join(', ');
      if (round > 0) note(`${QUESTION}: ${shown} (${taken} changes)`);
      // A run whose pushes changed nothing would be a different measurement.
      if (round > 0 && taken < (rates.cairn.at(-1) ?? 0) * seconds * 0.9) throw new Error(`only ${taken} were changes`);
    }
  } finally {
    await sqlite?.stop();
    await hub.stop();
  }
  const row = (yardstickName: string, yardstick: readonly number[], target: number) =>
    pairedRow({ question: QUESTION, yardstickName, cairn: rates.cairn, yardstick, unit: '/s', target });
  return [
    missing === undefined ? row('fastify + better-sqlite3', rates.sqlite, 5) : missingRow(QUESTION, missing),
    row('bare LMDB puts', rates.raw, 0.5),
  ];
};

let probes = 0;

/** Resolves with the sequence number of the newest change, by making another one. */
async function newestSeq(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  probes += 1;
  const content = `probe ${probes}`;
  const push = {
    path: `probe-${probes}`,
    content,
    sha256: sha256Of(content),
    hlc: clockAt(probes),
    device_id: 'probe',
  };
  const { seq } = JSON.parse(await post(url, headers, JSON.stringify(push))) as { seq: number };
  return seq;
}

await runWhenStarted(import.meta.url, syncPush);
