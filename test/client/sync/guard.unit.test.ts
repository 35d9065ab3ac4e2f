/** When the guard holds changes back: a row for each rule. */
import { expect, test } from 'vitest';
import { afterChange, type RecentChange } from '../../../src/client/sync/base/recent.ts';
import { heldKinds, isOver, windowOf } from '../../../src/client/sync/plan/guard.ts';
import { limits } from '../../../src/limits/service.ts';

const NONE = { allowDeletes: false, allowRewrites: false };
const NOTHING = { deleted: 0, rewritten: 0 };
const recent = (count: number, what: RecentChange['what'], way: RecentChange['way'] = 'sent') =>
  Array.from({ length: count }, (): RecentChange => ({ what, way, atMs: 0 }));

test.each([
  ['nothing changed', 100, [], { files: 100, deleted: 0, rewritten: 0 }],
  ['deleted files were there', 60, recent(40, 'deleted'), { files: 100, deleted: 40, rewritten: 0 }],
  ['new files were not', 140, recent(40, 'created'), { files: 100, deleted: 0, rewritten: 0 }],
  [
    'a program that writes a new file for each one that it deletes',
    100,
    [...recent(40, 'deleted'), ...recent(40, 'created')],
    { files: 100, deleted: 40, rewritten: 0 },
  ],
  [
    'only the changes of one direction count',
    100,
    [...recent(3, 'rewritten'), ...recent(4, 'rewritten', 'received')],
    { files: 100, deleted: 0, rewritten: 3 },
  ],
])('[SYN-35] the window compares with the files at its beginning: %s', (_, files, changes, window) => {
  expect(windowOf(changes, 'sent', files)).toEqual(window);
});

test.each([
  ['half of the files', 100, { deleted: 40, rewritten: 0 }, { deleted: 10, rewritten: 0 }, NONE, ''],
  [
    'more than half, slowly',
    100,
    { deleted: 40, rewritten: 0 },
    { deleted: 11, rewritten: 0 },
    NONE,
    'deletes rewrites',
  ],
  ['more than half, at once', 100, NOTHING, { deleted: 0, rewritten: 81 }, NONE, 'deletes rewrites'],
  ['both together', 100, { deleted: 26, rewritten: 0 }, { deleted: 0, rewritten: 25 }, NONE, 'deletes rewrites'],
  ['a folder of few files is edited as a whole', 20, NOTHING, { deleted: 0, rewritten: 20 }, NONE, ''],
  ['it begins with 30 files', 31, NOTHING, { deleted: 0, rewritten: 30 }, NONE, 'deletes rewrites'],
  [
    'confirmed deletes do not count',
    100,
    { deleted: 80, rewritten: 0 },
    { deleted: 10, rewritten: 10 },
    { ...NONE, allowDeletes: true },
    '',
  ],
  [
    'confirmed rewrites leave deletes held',
    100,
    { deleted: 50, rewritten: 50 },
    { deleted: 1, rewritten: 1 },
    { ...NONE, allowRewrites: true },
    'deletes',
  ],
])('[SYN-35] what is held back: %s', (_, files, before, more, allows, held) => {
  const kinds = heldKinds({ files, ...before }, more, allows);
  expect([kinds.deletes && 'deletes', kinds.rewrites && 'rewrites'].filter(Boolean).join(' ')).toBe(held);
});

test.each([
  ['a new file is new', undefined, 'created', 'created'],
  ['a file that is back was not lost', 'deleted', 'created', undefined],
  ['a new file that is gone again is nothing', 'created', 'deleted', undefined],
  ['a rewritten file that is gone is lost', 'rewritten', 'deleted', 'deleted'],
  ['a file counts once', 'rewritten', 'rewritten', 'rewritten'],
  ['a new file may be written again', 'created', 'rewritten', 'created'],
] as const)('[SYN-35] what is known of a file: %s', (_, before, what, after) => {
  const change = (kind: RecentChange['what']): RecentChange => ({ what: kind, way: 'sent', atMs: 0 });
  expect(afterChange(before && change(before), change(what))?.what).toBe(after);
});

test('[SYN-35] a change counts for the length of the window, and no clock that was set back ends it', () => {
  const at = (atMs: number): RecentChange => ({ what: 'deleted', way: 'sent', atMs });
  const { clientGuardMs } = limits;
  expect([at(0), at(1), at(2 * clientGuardMs)].map((one) => isOver(one, clientGuardMs + 1))).toEqual([
    true,
    false,
    false,
  ]);
});
