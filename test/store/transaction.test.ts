/** What fails in the transaction of a group: before its first write it fails alone, later it ends the process before the commit. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { halfTables } from '../support/half-tables.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/test/store/half-written.js');
/** The library's own limit for a key with pages of 4 KiB. */
const KEY_BYTES_MAX = 1978;
const { rows, heads } = halfTables;

let folder: string;
let store: Store | undefined;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(async () => {
  await store?.close();
  store = undefined;
});

const open = () => {
  store = new Store({ folder, tables: [rows, heads] });
  return store;
};

test('[OPS-2] a group that fails after its first row ends the process before the commit: nothing of it is in the data file', () => {
  const { signal, stderr } = spawnSync(process.execPath, [PROGRAM, folder], { encoding: 'utf8' });
  expect(signal).toBe('SIGKILL');
  expect(stderr).toMatch(/nothing of it is written, and the process ends: Error: a head that cannot be encoded/);
  const keys = [...open().keys(rows)];
  expect(keys).toEqual([['kept']]);
});

test('[OPS-2] a key that the data file cannot hold is refused alone: others of its group are written', async () => {
  const opened = open();
  const longest = 'k'.repeat(KEY_BYTES_MAX);
  const written = (key: string) => opened.write(HUB, (batch) => batch.put(rows, [key], { text: 'a' }));
  const results = await Promise.allSettled([
    written('before'),
    written(`${longest}k`),
    opened.write(HUB, (batch) => batch.remove(rows, [`${longest}k`])),
    // Characters of three bytes each.
    written('字'.repeat(KEY_BYTES_MAX / 3 + 1)),
    written(longest),
    written('after'),
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect([...opened.keys(rows)]).toEqual([['after'], ['before'], [longest]]);
});

test('[OPS-2] a decision that throws fails alone, whatever it had put', async () => {
  const opened = open();
  const results = await Promise.allSettled([
    opened.write(HUB, (batch) => batch.put(rows, ['first'], { text: 'a' })),
    opened.write(HUB, (batch): void => {
      batch.put(rows, ['never'], { text: 'b' });
      throw new Error('a mistake');
    }),
    opened.write(HUB, (batch) => batch.put(rows, ['last'], { text: 'c' })),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect([...opened.keys(rows)]).toEqual([['first'], ['last']]);
});
