/** How many durable uploads of 64 KiB per second over 32 connections, compared with bare LMDB puts of 64 KiB? */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { runClient } from './client.ts';
import { startCairn } from './peers/cairn.ts';
import { runProgram } from './peers/child.ts';
import { warmMemory } from './peers/warm-memory.ts';
import { type Bench, note, pairedRow, runWhenStarted, shown } from './report.ts';

const CONNECTIONS = 32;
const BODY_BYTES = 64 * 1024;
const RAW_LMDB = fileURLToPath(new URL('./peers/raw-lmdb.js', import.meta.url));

export const uploadSmall: Bench = async ({ quick }) => {
  const pairs = quick ? 2 : 5;
  const requestsPerConnection = quick ? 40 : 120;
  const count = CONNECTIONS * requestsPerConnection;
  const folder = temporaryFolder();
  const rawFile = join(folder, 'raw.mdb');
  const warm = () => warmMemory(folder, 2 * count * BODY_BYTES);
  const cairn = await startCairn();
  const rates = { cairn: [] as number[], raw: [] as number[] };
  try {
    const credential = await cairn.account();
    const job = {
      port: cairn.port,
      credential,
      connections: CONNECTIONS,
      requestsPerConnection,
      bodyBytes: BODY_BYTES,
    };
    const run = {
      async cairn() {
        const { ms, requestMs } = await runClient(job, warm);
        note(`upload of 64 KiB: cairn ${((count * 1000) / ms).toFixed(0)}/s, one takes ${shown(requestMs, 'ms', 1)}`);
        return (count * 1000) / ms;
      },
      async raw() {
        warm();
        const args = [RAW_LMDB, rawFile, String(count), String(CONNECTIONS), String(BODY_BYTES)];
        const rate = (count * 1000) / Number(await runProgram(process.execPath, args));
        note(`upload of 64 KiB: bare LMDB ${rate.toFixed(0)}/s`);
        return rate;
      },
    };
    // The first pair is warm-up. The order alternates from pair to pair.
    for (let pair = 0; pair <= pairs; pair += 1) {
      for (const side of pair % 2 === 0 ? (['cairn', 'raw'] as const) : (['raw', 'cairn'] as const)) {
        const rate = await run[side]();
        if (pair > 0) rates[side].push(rate);
      }
    }
  } finally {
    await cairn.stop();
  }
  return [
    pairedRow({
      question: 'durable upload of 64 KiB, 32 connections',
      yardstickName: 'bare LMDB puts',
      cairn: rates.cairn,
      yardstick: rates.raw,
      unit: '/s',
      target: 0.5,
    }),
  ];
};

await runWhenStarted(import.meta.url, uploadSmall);
