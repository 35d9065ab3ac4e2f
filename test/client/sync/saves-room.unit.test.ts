/** Which copies of earlier saves make room for another one: a row for each rule. */
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { madeRoomFor } from '../../../src/client/sync/folder/saves-room.ts';
import type { Scan } from '../../../src/client/sync/scan/scan.ts';
import { limits } from '../../../src/limits/service.ts';
import { keeperOf, keptFolder } from './kept-folder.ts';

const ROOM = { all: 64, large: 48, small: 1 };

/** `a9 a9 b1`: copies of these files with so many bytes, oldest first, named by their number. */
function copies(text: string) {
  const words = text.split(' ').filter((word) => word !== '');
  return new Map(words.map((word, at) => [`${at}`, { path: word.slice(0, 1), bytes: Number(word.slice(1)) }]));
}

test.each([
  ['fits', '', 'a9', []],
  ['fits to the byte', 'a24', 'b24', []],
  ['takes the place of its file’s second save', 'a12 a12 a12 a12', 'a12', ['1']],
  ['as many as it needs', 'a12 a12 a12 a12', 'a24', ['1', '2']],
  ['the largest first', 'a9 a20 a10 a9', 'a20', ['1']],
  ['of another file, of which the first and the last stay', 'a12 a12 a12 a12', 'b9', ['1']],
  ['a large one leaves room for small ones', 'a24 b24', 'c9', undefined],
  ['a small one has that room', 'a24 b24', 'c1', []],
  ['a small one for which large ones go', 'a12 a12 a12 a12 b1 c8 d8', 'b1', ['1']],
  ['no small ones for a large one', `a1 ${'a1 '.repeat(40)}b20 c2`, 'd9', undefined],
  ['small ones for a small one', 'a1 '.repeat(64), 'b1', ['1']],
  ['nothing between', 'a24 a24', 'b9', undefined],
  ['larger than all may be', '', 'a49', undefined],
])('[SYN-25] a copy of a save: %s', (_, held, next, given) => {
  const [added = { path: '', bytes: 0 }] = copies(next).values();
  expect(madeRoomFor(added, copies(held), ROOM)).toEqual(given);
});

test('[SYN-25] saves of a large file leave room for those of a small one while nothing is sent, and a sentence says what is not kept', async () => {
  const { root, folder, state } = keptFolder();
  const told: string[] = [];
  const keeper = keeperOf({ folder, state }, { onLost: (sentence) => told.push(sentence) });
  keeper.noteScan({ files: new Map(), otherForms: new Map(), excludes: () => false } as unknown as Scan);
  const contentOf = (bytes: Buffer) => ({ bytes, sha256: sha256Of(bytes), executable: false, modifiedMs: 0 });
  const large = (at: number) => Buffer.alloc(9 * 1024 * 1024, `${at}`);
  const fits = Math.floor(limits.clientSavesLargeBytesMax / large(0).length);
  for (let at = 0; at < fits; at += 1) folder.saves.keep('film.bin' as FolderPath, contentOf(large(at)), '');
  const kept = (path: string) => folder.saves.list().filter((one) => one.path === path);
  const hashes = () => kept('film.bin').map(({ sha256 }) => sha256);
  for (let at = fits; at < fits + 2; at += 1) {
    writeFileSync(join(root, 'film.bin'), large(at));
    keeper.changed(join(root, 'film.bin'));
    await expect.poll(hashes).toContain(sha256Of(large(at)));
  }
  expect(hashes()).toEqual(
    [0, ...Array.from({ length: fits - 1 }, (_, at) => at + 3)].map((at) => sha256Of(large(at))),
  );
  expect(folder.saves.lost()).toEqual(['film.bin']);
  for (let at = 0; at < 5; at += 1)
    folder.saves.keep('note.md' as FolderPath, contentOf(Buffer.from(`note ${at}\n`)), '');
  expect(kept('note.md')).toHaveLength(5);
  expect(hashes()).toHaveLength(fits);
  // Once for a file, however often.
  expect(told).toEqual([expect.stringMatching(/^film\.bin: .*64 MiB, so not each save of it is kept\./)]);
}, 120_000);

test('[SYN-25] each note of a copy is read once, however many copies come and go once their room is used up', () => {
  const root = mkdtempSync(join(tmpdir(), 'cairn-notes-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const saves = new Saves(root);
  const keep = (path: string, bytes: Buffer) =>
    saves.keep(path as FolderPath, { bytes, sha256: sha256Of(bytes), executable: false, modifiedMs: 0 }, '');
  const small = Buffer.alloc(limits.clientSavesSmallBytes);
  const fits = limits.clientSavesBytesMax / small.length;
  for (let at = 0; at < fits; at += 1) {
    small.writeUInt32LE(at);
    expect(keep(`${at % 4}`, small).lost.size).toBe(0);
  }
  const { readFileSync } = fs;
  let reads = 0;
  fs.readFileSync = ((...args: Parameters<typeof readFileSync>) => {
    reads += 1;
    return readFileSync(...args);
  }) as typeof readFileSync;
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  });
  for (let at = fits; at < fits + 20; at += 1) {
    small.writeUInt32LE(at);
    expect(keep('0', small).lost.size).toBe(1);
  }
  expect(saves.list()).toHaveLength(fits);
  // The list of files of which a save was lost is short, and read for each such loss.
  expect(reads).toBeLessThanOrEqual(20);
  // A copy that another process stored is read once.
  const other = new Saves(root);
  other.list()[5]?.drop();
  other.keep('other' as FolderPath, { bytes: small.subarray(1), sha256: 'a', executable: false, modifiedMs: 0 }, 'b');
  reads = 0;
  for (let round = 0; round < 3; round += 1) {
    expect(saves.list().at(-1)).toMatchObject({ path: 'other', sha256: 'a', base: 'b' });
    expect(saves.list()).toHaveLength(fits);
  }
  expect(reads).toBe(1);
});
