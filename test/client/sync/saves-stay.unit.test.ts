/** A kept save stays while it cannot be read: too many files are open, or the disk fails for a moment. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Of } from '../../../src/client/sync/folder/file.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { Saves } from '../../../src/client/sync/folder/saves.ts';
import { keeperOf, keptFolder } from './kept-folder.ts';

const bytes = Buffer.from('saved once\n');
const content = { bytes, sha256: sha256Of(bytes), executable: undefined, modifiedMs: 0 };

test('[SYN-25] a save of which the note cannot be read now stays, and is sent once it can be read', () => {
  const own = join(keptFolder().root, '.cairn');
  const { name } = new Saves(own).keep('x' as FolderPath, content, '');
  const note = join(own, 'saves', `${name}.json`);
  renameSync(note, join(own, 'note'));
  // A folder in its place: any error of the system but the one that says that it is gone.
  mkdirSync(note);
  expect(new Saves(own).list()).toEqual([]);
  rmdirSync(note);
  renameSync(join(own, 'note'), note);
  expect(new Saves(own).list()[0]?.read()?.bytes.toString()).toBe('saved once\n');
});

test('[SYN-25] a save that could not be kept at once is kept as soon as it can be', async () => {
  const { root, folder, state } = keptFolder('7');
  const keeper = keeperOf({ folder, state });
  const saves = join(root, '.cairn/saves');
  // No copy can be written there, as on a full disk.
  writeFileSync(saves, '');
  writeFileSync(join(root, 'x'), 'saved once\n');
  keeper.changed(join(root, 'x'));
  const written = Date.now();
  await expect.poll(() => Date.now() - written, { timeout: 10_000 }).toBeGreaterThan(1200);
  rmSync(saves);
  await expect.poll(() => folder.saves.list().map(({ path }) => path as string), { timeout: 20_000 }).toEqual(['x']);
  expect(readdirSync(saves).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('[SYN-25] a save whose base cannot be noted now stays without, and its watch goes on', () => {
  const own = join(keptFolder().root, '.cairn');
  const { name } = new Saves(own).keep('x' as FolderPath, content, null);
  // No note can be written: the disk is full, or the folder is away at this moment.
  const unfinished = join(own, 'saves', `${name}.json.part`);
  mkdirSync(unfinished);
  const saves = new Saves(own);
  saves.settle(name ?? '', () => 'base');
  expect(saves.list()).toMatchObject([{ path: 'x', base: null }]);
  rmdirSync(unfinished);
  expect(new Saves(own).list()).toMatchObject([{ path: 'x', base: null }]);
  saves.settle(name ?? '', () => 'base');
  expect(new Saves(own).list()).toMatchObject([{ path: 'x', base: 'base' }]);
});

test('[SYN-25] bytes of a save of which the note is lost stay, and those without any bytes go', () => {
  const own = join(keptFolder().root, '.cairn');
  const { name } = new Saves(own).keep('x' as FolderPath, content, '');
  rmSync(join(own, 'saves', `${name}.json`));
  writeFileSync(join(own, 'saves', 'empty'), '');
  expect(new Saves(own).list()).toHaveLength(1);
  expect(readdirSync(join(own, 'saves'))).toEqual([name]);
});
