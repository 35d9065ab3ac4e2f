/** What the look at a data file finds in lists of free pages, in the list of tables, and in the head. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bytesCodec } from '../../src/store/codec.ts';
import { salvage } from '../../src/store/copies/salvage.ts';
import { BrokenFile } from '../../src/store/data-file/check.ts';
import { checkFreePages } from '../../src/store/data-file/free-pages.ts';
import { checkPageSums } from '../../src/store/data-file/page-sums.ts';
import { nameWithFlippedBit } from '../../src/store/data-file/table-names.ts';
import { HUB } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { defineTable } from '../../src/store/table.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PAGE_LAST = 100;

function listOf(count: number, ...entries: readonly (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc((1 + entries.length) * 8);
  bytes.writeBigUInt64LE(BigInt(count), 0);
  for (const [at, entry] of entries.entries()) bytes.writeBigInt64LE(BigInt(entry), (at + 1) * 8);
  return bytes;
}

test.each<[string, Buffer]>([
  ['an empty list', listOf(0)],
  ['single pages and empty slots', listOf(4, 100, 0, 7, 2)],
  ['runs, the last up to the end of the file', listOf(5, -3, 98, 0, -2, 50)],
  ['slots that are reserved and not used', listOf(1, 9, 10_000)],
])('[OPS-23] a list of free pages is whole: %s', (_, list) => {
  expect(() => checkFreePages(list, PAGE_LAST)).not.toThrow();
});

test.each<[string, Buffer, string]>([
  ['a page after the end of the file', listOf(2, 9, 101), '1 free pages begin at page 101 of 100'],
  ['a page far after it', listOf(1, 98n | (1n << 59n)), 'begin at page 576460752303423586 of 100'],
  ['the head of the file', listOf(1, 1), '1 free pages begin at page 1 of 100'],
  ['a run beyond the end', listOf(2, -4, 98), '4 free pages begin at page 98 of 100'],
  ['a run longer than the file', listOf(2, -(2n ** 62n), 98), 'begin at page -4611686018427387904'],
  ['more entries than there is room', listOf(3, 9, 8), 'a list of 3 free pages has room for 2'],
  ['nothing', Buffer.alloc(4), 'a list of 0 free pages has room for -1'],
])('[OPS-23] a list of free pages is damaged: %s', (_, list, message) => {
  expect(() => checkFreePages(list, PAGE_LAST)).toThrow(message);
});

test.each<[string, string | undefined]>([
  ['accounts', undefined],
  ['accountr', 'accounts'],
  ['ac\u00e3ounts', 'accounts'],
  ['mccounts', undefined],
  ['account', undefined],
  ['task1', undefined],
])('[OPS-23] the name %s is that of %s with a flipped bit', (name, meant) => {
  expect(nameWithFlippedBit(name, ['accounts', 'tasks', 'task0', 'task3'])).toBe(meant);
});

const NAME = 'mirror_repositories';
const repositories = defineTable<[number], Uint8Array>(NAME, bytesCodec, { hub: 'any' });
const tables = [repositories, defineTable<[number], Uint8Array>('tasks', bytesCodec, { hub: 'any' })];

/** A data file with two rows. */
async function file(): Promise<{ readonly folder: string; readonly path: string }> {
  const folder = temporaryFolder();
  const store = new Store({ folder, tables });
  for (const key of [1, 2]) await store.write(HUB, (batch) => batch.put(repositories, [key], Buffer.from('row')));
  await store.close();
  return { folder, path: join(folder, 'cairn.mdb') };
}

/** Flips a bit in every copy of the entry of the table, so many bytes after its name begins. */
function flipInEntry(path: string, offset: number, bit: number): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(NAME); at >= 0; at = bytes.indexOf(NAME, at + NAME.length)) {
    bytes[at + offset] = (bytes[at + offset] ?? 0) ^ bit;
  }
  writeFileSync(path, bytes);
}

test('[OPS-23] a table whose name has a flipped bit is not made again: the file is refused, and its rows are saved', async () => {
  const { folder, path } = await file();
  flipInEntry(path, 3, 0x02);
  expect(() => new Store({ folder, tables })).toThrow(BrokenFile);
  expect(() => new Store({ folder, tables })).toThrow(/table mirror_repositories has another name.*cairn restore/);
  const saved = temporaryFolder();
  await salvage({ from: path, to: join(saved, 'cairn.mdb'), tables, mapBytes: 2 ** 30 });
  const store = new Store({ folder: saved, tables, readOnly: true });
  expect(store.range(repositories, { prefix: [] }).map(({ key }) => key)).toEqual([[1], [2]]);
  await store.close();
});

test('[OPS-23] a table of another kind is told before anything reads it, and its rows are saved', async () => {
  const { folder, path } = await file();
  flipInEntry(path, NAME.length + 4, 0x04);
  expect(() => new Store({ folder, tables })).toThrow(
    /table mirror_repositories of the list of tables is of another kind/,
  );
  const saved = temporaryFolder();
  await salvage({ from: path, to: join(saved, 'cairn.mdb'), tables, mapBytes: 2 ** 30 });
  const store = new Store({ folder: saved, tables, readOnly: true });
  expect(store.range(repositories, { prefix: [] })).toHaveLength(2);
  await store.close();
});

test('[OPS-23] a flipped bit in what a commit writes to the head is told, also in a field that nothing reads', async () => {
  const { folder, path } = await file();
  expect(checkPageSums(folder)).toEqual([]);
  const bytes = readFileSync(path);
  // The number of branch pages of the list of tables, in both heads.
  for (const at of [109, 4096 + 109]) bytes[at] = (bytes[at] ?? 0) ^ 0x04;
  writeFileSync(path, bytes);
  expect(checkPageSums(folder)).toEqual([expect.objectContaining({ tree: 'the head of the file' })]);
});
