/** Which paths a device selects, and which it leaves out. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import { readRules } from '../../../src/client/sync/scan/choice.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const PATHS = ['a.md', 'b.txt', 'drafts/', 'drafts/c.md', 'notes/d.txt', 'notes/drafts/', 'notes/drafts/e.md'];

test.each([
  [[], PATHS],
  [['*.md'], ['a.md', 'drafts/', 'drafts/c.md', 'notes/drafts/', 'notes/drafts/e.md']],
  [
    ['*.md', '!/drafts/'],
    ['a.md', 'notes/drafts/', 'notes/drafts/e.md'],
  ],
  [['!drafts/', '*.md'], ['a.md']],
  [
    ['notes/', '!notes/drafts/'],
    ['drafts/', 'notes/d.txt'],
  ],
  [
    ['*', '!drafts/'],
    ['a.md', 'b.txt', 'notes/d.txt'],
  ],
  [['!drafts/'], ['a.md', 'b.txt', 'notes/d.txt']],
])('[CLI-2] a selection of %j takes %j', (only, taken) => {
  const root = temporaryFolder();
  const { excludes } = readRules(new SyncedFolder(root), only, new Map());
  expect(PATHS.filter((path) => !excludes(path))).toEqual(taken);
  writeFileSync(join(root, '.cairnignore'), '*.md\n');
  const rules = readRules(new SyncedFolder(root), only, new Map());
  expect(PATHS.filter((path) => !rules.excludes(path))).toEqual(taken.filter((path) => !path.endsWith('.md')));
});
