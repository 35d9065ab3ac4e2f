/** The journal of a followed backup: what is read of one with a damaged line, and what an append that failed leaves in it. */
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  appendPoint,
  applyPoints,
  BLOCK_BYTES,
  cutJournal,
  ENTRY_BYTES,
  type Point,
  readPoints,
} from '../../src/store/copies/journal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Block 0 full of one byte. */
function blockOf(byte: number): Buffer {
  const entry = Buffer.alloc(ENTRY_BYTES, byte);
  entry.writeUInt32LE(0, 0);
  return entry;
}

const append = (folder: string, after: Point | undefined, byte: number): Point =>
  appendPoint(
    folder,
    after,
    {
      made_at: new Date(byte * 1000).toISOString(),
      file: 'a',
      transaction: byte,
      bytes: BLOCK_BYTES,
      tables: { rows: byte },
    },
    [blockOf(byte)],
  );

/** What a restore makes of the points: the byte that block 0 is full of. */
function restored(folder: string): readonly number[] {
  const path = join(folder, 'cairn.mdb');
  writeFileSync(path, Buffer.alloc(BLOCK_BYTES));
  applyPoints(folder, path, readPoints(folder).points);
  return [...new Set(readFileSync(path))];
}

test('[OPS-11] the points before a damaged line of a journal are read, and none after it', () => {
  const folder = temporaryFolder();
  const first = append(folder, undefined, 1);
  const second = append(folder, first, 2);
  const path = join(folder, 'journal.ndjson');
  const whole = readFileSync(path, 'utf8');
  // As a disk that was full left it: half a line, and the next line after it.
  appendFileSync(path, whole.slice(0, 40));
  expect(readPoints(folder)).toEqual({ points: [first, second], damagedLine: undefined });
  append(folder, second, 3);
  append(folder, second, 4);
  expect(readPoints(folder)).toEqual({ points: [first, second], damagedLine: 3 });
});

test('[OPS-11] an append whose flush failed is cut from the journal, whether its line looks complete or not', () => {
  for (const missing of [0, 1, 30]) {
    const folder = temporaryFolder();
    const first = append(folder, undefined, 1);
    const second = append(folder, first, 2);
    append(folder, second, 3);
    const path = join(folder, 'journal.ndjson');
    truncateSync(path, readFileSync(path).length - missing);
    cutJournal(folder, second);
    append(folder, second, 4);
    expect([missing, restored(folder)]).toEqual([missing, [4]]);
  }
});
