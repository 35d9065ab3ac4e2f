/** Child program: puts values into a bare LMDB file with the store's options, N outstanding, and reports the time. */

import { randomBytes } from 'node:crypto';
import { open } from 'lmdb';
import { limits } from '../../src/limits/service.ts';

const [path = '', count = '0', outstanding = '0', valueBytes = '0'] = process.argv.slice(2);
const settings = {
  path,
  noSubdir: true,
  encoding: 'binary',
  keyEncoding: 'ordered-binary',
  mapSize: limits.mapBytes,
  overlappingSync: false,
  safeRestore: true,
} as const;
const db = open<Buffer, (string | number)[]>(settings);
const value = randomBytes(Number(valueBytes));
const run = Date.now();
let next = 0;

async function lane(): Promise<void> {
  while (next < Number(count)) {
    next += 1;
    await db.put([run, next], value);
  }
}

const startMs = performance.now();
await Promise.all(Array.from({ length: Number(outstanding) }, lane));
const ms = performance.now() - startMs;
await db.close();
process.stdout.write(`${ms}\n`);
