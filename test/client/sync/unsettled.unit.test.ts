/** Files that stay open from writing until they are flushed: few at once, none afterwards, and none that somebody may run. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** How many files below a folder this process has open (proc(5)); those that were removed too. */
function openBelow(root: string): number {
  const targetOf = (descriptor: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      // The one that was used to list them.
      return '';
    }
  };
  return readdirSync('/proc/self/fd').filter((one) => targetOf(one).startsWith(`${root}/`)).length;
}

test('[SYN-25] of many files that a pull places, few are open at once, and none once they are flushed', async () => {
  const folder = new SyncedFolder(temporaryFolder());
  folder.makeOwn();
  const root = folder.root.path;
  const paths = Array.from({ length: 400 }, (_, at) => `in/${at % 7}/${at}` as FolderPath);
  let most = 0;
  for (const [at, path] of paths.entries()) {
    expect(folder.put(path, Buffer.from(path), undefined)).not.toBe(false);
    // Another file has the name.
    expect(folder.put(path, Buffer.from('other'), undefined)).toBe(false);
    if (at % 40 === 39) most = Math.max(most, openBelow(root));
  }
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(256);
  await folder.settle();
  expect(openBelow(root)).toBe(0);
  expect(paths.filter((path) => readFileSync(join(root, path), 'utf8') !== path)).toEqual([]);
  expect(readdirSync(folder.own('incoming'))).toEqual([]);
});

test('[SYN-24] a program that a pull places is not open, because Linux runs nothing that is open for writing', () => {
  const folder = new SyncedFolder(temporaryFolder());
  folder.makeOwn();
  const put = (path: string, executable: boolean) =>
    folder.put(path as FolderPath, Buffer.from(path), undefined, { executable });
  expect(put('tool', true)).not.toBe(false);
  expect(openBelow(folder.root.path)).toBe(0);
  expect(put('text', false)).not.toBe(false);
  expect(openBelow(folder.root.path)).toBe(1);
});
