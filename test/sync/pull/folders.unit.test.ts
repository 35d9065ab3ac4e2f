/** Lists of one folder: what stands where, each entry once, and how many rows that reads. */
import { afterAll, expect, test } from 'vitest';
import { allTables } from '../../../src/compose/tables.ts';
import { limits } from '../../../src/limits/service.ts';
import { Store } from '../../../src/store/store.ts';
import type { FileRecord } from '../../../src/sync/log/file-record.ts';
import { checkPath, foldersOf } from '../../../src/sync/log/paths.ts';
import { SyncReader } from '../../../src/sync/log/reader.ts';
import { files, folders } from '../../../src/sync/log/records.ts';
import { type FolderPage, Folders } from '../../../src/sync/pull/folders.ts';
import { runs } from '../../support/seed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const store = new Store({ folder: temporaryFolder(), tables: allTables });
const lists = new Folders(store, new SyncReader(store));

afterAll(() => store.close());

const record = (path: string, deleted: boolean): FileRecord => ({
  path,
  seq: 1,
  deleted,
  sha256: '',
  git_sha: '',
  hlc: '',
  size_bytes: 1,
  stored_ms: 1,
  device_id: 'laptop',
  mtime: null,
  executable: false,
  line_bytes: 1,
  versions: 1,
});

/** Writes the rows that a vault with these files has. */
async function fill(vaultId: string, paths: readonly string[], deleted: readonly string[] = []): Promise<void> {
  const children = new Map<string, Set<string>>();
  for (const path of paths) {
    let below = checkPath(path).folded;
    for (const folder of foldersOf(below)) {
      children.set(folder, (children.get(folder) ?? new Set()).add(below));
      below = folder;
    }
  }
  const all = [...paths.map((path) => [path, false] as const), ...deleted.map((path) => [path, true] as const)];
  for (let at = 0; at < all.length; at += 5000) {
    await store.write({ kind: 'vault', id: vaultId }, (batch) => {
      for (const [path, isGone] of all.slice(at, at + 5000)) {
        batch.put(files, [vaultId, checkPath(path).folded], record(path, isGone));
      }
    });
  }
  await store.write({ kind: 'vault', id: vaultId }, (batch) => {
    for (const [folder, below] of children) batch.put(folders, [vaultId, folder], { children: below.size });
  });
}

/** Every page of a folder. */
async function pagesOf(vaultId: string, folder: string, limit: number): Promise<FolderPage[]> {
  const pages: FolderPage[] = [];
  let after: string | undefined;
  do {
    const page = await lists.list({ accountId: 'a', vaultId }, { folder, after, limit });
    pages.push(page);
    after = page.next;
  } while (after !== undefined && pages.length < 1000);
  return pages;
}

const namesOf = (pages: readonly FolderPage[]) => [
  ...pages.flatMap((page) => page.folders.map(({ path, children }) => `${path}/ ${children}`)),
  ...pages.flatMap((page) => page.files.map(({ path }) => path)),
];

test('[WEB-16] a folder lists its subfolders, then its files, in the spelling of the files, and nothing of others', async () => {
  const paths = [
    'README.md',
    'Notes/a.md',
    'Notes/Deep/x/y.md',
    'Notes/b.md',
    'notes-old/c.md',
    'notes0.md',
    'Zoo/Ä/1.md',
  ];
  await fill('small', paths, ['gone/1.md', 'Notes/gone.md', 'zz.md']);
  for (const limit of [1, 2, 3, 100]) {
    const listed = async (folder: string) => namesOf(await pagesOf('small', folder, limit));
    expect(await listed('')).toEqual(['Notes/ 3', 'notes-old/ 1', 'Zoo/ 1', 'notes0.md', 'README.md']);
    expect(await listed('notes')).toEqual(['Notes/Deep/ 1', 'Notes/a.md', 'Notes/b.md']);
    expect(await listed('notes/deep')).toEqual(['Notes/Deep/x/ 1']);
    expect(await listed('zoo')).toEqual(['Zoo/Ä/ 1']);
    expect(await listed('gone')).toEqual([]);
    expect(await listed('nowhere')).toEqual([]);
  }
  expect((await pagesOf('small', '', 5)).length).toBe(1);
});

// With 100,000 files in the long run.
test('[WEB-16] of many files a page reads about as many rows as it shows, whatever lies below', async () => {
  const limit = limits.fileRowsPerPage;
  const count = runs(20_000);
  const paths = Array.from({ length: count }, (_, at) => `f${at % 100}/d${at % (count / limit)}/n${at}.md`);
  await fill('large', [...paths, 'z.md']);
  const [first, second] = await pagesOf('large', '', limit);
  expect([first?.folders.length, first?.files.length, second?.files.length]).toEqual([limit, 0, 1]);
  for (const page of [first, second]) expect(page?.rowsRead).toBeLessThan(4 * limit);
  const [inner, more] = await pagesOf('large', 'f7/d7', limit);
  expect([inner?.files.length, inner?.next, more]).toEqual([limit, undefined, undefined]);
  expect(inner?.rowsRead).toBeLessThan(2 * limit);
}, 120_000);

test('[WEB-16, LIM-2] a folder of deleted files is walked in bounded pages', async () => {
  const gone = Array.from({ length: limits.folderScanMax + 100 }, (_, at) => `old/${at}.md`);
  await fill('deleted', ['old/zz.md'], gone);
  const pages = await pagesOf('deleted', 'old', 50);
  expect(namesOf(pages)).toEqual(['old/zz.md']);
  expect(pages.length).toBe(2);
  for (const { rowsRead } of pages) expect(rowsRead).toBeLessThan(limits.folderScanMax + limits.listTurnRows + 1);
});
