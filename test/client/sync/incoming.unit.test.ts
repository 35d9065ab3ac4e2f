/** A finished download takes its name only where nothing has it, on every kind of disk. */
import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { placeNew, placeWithoutLink } from '../../../src/client/sync/folder/incoming.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A disk of its own on Linux. */
const OTHER_DISK = '/dev/shm';

function arrived(targetFolder = temporaryFolder()) {
  const incoming = join(temporaryFolder(), 'x.part');
  writeFileSync(incoming, 'new');
  utimesSync(incoming, 1e9, 1e9);
  return { incoming, target: join(targetFolder, 'x') };
}

test.each([placeNew, placeWithoutLink])('[SYN-24, SYN-39] %o moves no bytes, and replaces nothing', (place) => {
  const { incoming, target } = arrived();
  const { ino } = lstatSync(incoming);
  expect(place(incoming, target)).toBe('moved');
  expect(lstatSync(target)).toMatchObject({ ino, mtimeMs: 1e12 });
  expect(readFileSync(target, 'utf8')).toBe('new');
  const second = arrived();
  expect(place(second.incoming, target)).toBe(false);
  expect(lstatSync(target)).toMatchObject({ ino });
  expect(existsSync(second.incoming)).toBe(true);
});

test('[SYN-24] a folder that is missing is told, and nothing is left of it', () => {
  const { incoming, target } = arrived();
  for (const place of [placeNew, placeWithoutLink])
    expect(() => place(incoming, join(target, 'below'))).toThrow('ENOENT');
  expect(existsSync(target)).toBe(false);
});

test.runIf(existsSync(OTHER_DISK))(
  '[SYN-24] where another disk is mounted in the folder, a file is copied to it',
  () => {
    const other = mkdtempSync(join(OTHER_DISK, 'cairn-test-'));
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    const { incoming, target } = arrived(other);
    expect(placeNew(incoming, target)).toBe('copied');
    expect(readFileSync(target, 'utf8')).toBe('new');
    expect(lstatSync(target).mtimeMs).toBe(1e12);
    expect(placeNew(incoming, target)).toBe(false);
  },
);
