/** What a push sends: a row for each rule of the plan. */
import { expect, test } from 'vitest';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import {
  editedConflicts,
  mayBePushed,
  type PlanOptions,
  type PushPlan,
  planPush,
  refusedNoMore,
} from '../../../src/client/sync/plan/push-plan.ts';
import { scanOf, stateOf } from './views.ts';

const NOW_MS = 1_000_000;
const MIB = 2 ** 20;
const LARGE = { sha256: 'y', bytes: MIB, changedMs: NOW_MS - 100 };
/** Sent once, a short time ago. */
const SENT = new Map([['a', { inRow: 1, lastMs: NOW_MS - 200 }]]);
const paths = (...names: string[]) => names as FolderPath[];
const among =
  (...names: string[]) =>
  (path: string) =>
    names.includes(path);

/** A plan in short: only what is not empty. */
function planned(
  local: ReturnType<typeof scanOf>,
  state: ReturnType<typeof stateOf>,
  options: Partial<PlanOptions> = {},
): Partial<Record<keyof PushPlan, unknown>> {
  const all = [...local.files.keys(), ...state.base.keys()];
  const how: PlanOptions = {
    allowDeletes: false,
    allowRewrites: false,
    window: { files: state.base.size, deleted: 0, rewritten: 0 },
    isCounted: () => false,
    isOtherRoot: false,
    unmovable: new Set(),
    isReplaced: () => false,
    isGoing: () => false,
    damaged: new Map(),
    sends: new Map(),
    nowMs: NOW_MS,
    ...options,
  };
  const { moves, puts, deletes, held, restsUntilMs } = planPush(local, state, how, all);
  // What a watch would leave out makes no difference.
  expect(planPush(local, state, how, all.filter(mayBePushed(local, state, how.damaged)))).toEqual(
    planPush(local, state, how, all),
  );
  const lists = Object.entries({ puts, deletes, held }).filter(([, list]) => list.length > 0);
  return {
    ...Object.fromEntries(lists),
    ...(moves.size > 0 && { moves: Object.fromEntries(moves) }),
    ...(restsUntilMs < Number.POSITIVE_INFINITY && { restsUntilMs }),
  };
}

test.each([
  ['a file as both sides agreed on it is not sent', { a: 'x' }, { a: 'x' }, {}],
  ['a new file is sent', { a: 'x' }, {}, { puts: ['a'] }],
  ['a changed file is sent', { a: 'y' }, { a: 'x' }, { puts: ['a'] }],
  ['a file that is gone is deleted', { b: 'x' }, { a: 'y', b: 'x' }, { deletes: ['a'] }],
  ['a path that has no file on either side is nothing', {}, {}, {}],
  [
    'a new executable bit is sent',
    { a: { sha256: 'x', executable: true } },
    { a: { sha256: 'x', executable: false } },
    { puts: ['a'] },
  ],
  ['a bit that was not known is no change', { a: { sha256: 'x', executable: true } }, { a: 'x' }, {}],
  ['a bit that the disk does not store is no change', { a: 'x' }, { a: { sha256: 'x', executable: true } }, {}],
  [
    'small files go first',
    { a: { sha256: 'x', bytes: 3 }, b: { sha256: 'y', bytes: 1 }, c: { sha256: 'z', bytes: 2 } },
    {},
    { puts: ['b', 'c', 'a'] },
  ],
])('[CLI-2] a plan sends what changed here: %s', (_, files, base, plan) => {
  expect(planned(scanOf(files), stateOf(base))).toEqual(plan);
});

test.each([
  ['an excluded file is not sent', scanOf({ a: 'x' }, ['a']), {}],
  ['an excluded file that is gone is not deleted', scanOf({}, ['a']), { a: 'x' }],
  ['a file that cannot be read is not deleted', scanOf({}, [], ['a']), { a: 'x' }],
  ['what is left out does not make a rename of case', scanOf({ A: 'x' }, ['a', 'A']), { a: 'x' }],
])('[CLI-2] a plan leaves out what takes no part: %s', (_, local, base) => {
  expect(planned(local, stateOf(base))).toEqual({});
});

test.each([
  ['a conflict waits for its user', { kind: 'conflict', local: 'z' }, {}],
  ['a file whose hub side cannot be written waits', { kind: 'hub' }, {}],
  ['a file that is being downloaded waits', { kind: 'download' }, {}],
  ['a refused file that is the same is not sent again', { kind: 'push', local: 'y' }, {}],
  ['a refused file that changed since is sent', { kind: 'push', local: 'z' }, { puts: ['a'] }],
  ['a file whose delete was refused is sent when it is there again', { kind: 'push', local: null }, { puts: ['a'] }],
] as const)('[SYN-24] a path that waits: %s', (_, wait, plan) => {
  expect(planned(scanOf({ a: 'y' }), stateOf({ a: 'x' }, { a: wait }))).toEqual(plan);
});

test('[SYN-24] a refused delete is not sent again while the file is gone', () => {
  const wait = { kind: 'push', local: null } as const;
  expect(planned(scanOf({ b: 'x' }), stateOf({ a: 'y', b: 'x' }, { a: wait }))).toEqual({});
});

test.each([
  ['the same content as before is sent again', 'x', { a: 'x' }, {}, { puts: ['a'] }],
  ['also where it waits', 'x', { a: 'x' }, { a: { kind: 'hub' } }, { puts: ['a'] }],
  ['another content here repairs nothing and is a change as any other', 'y', { a: 'y' }, {}, {}],
] as const)('[SYN-24] a file that is damaged on the hub: %s', (_, here, base, waits, plan) => {
  const damaged = new Map([['a' as FolderPath, 'x']]);
  expect(planned(scanOf({ a: here }), stateOf(base, waits), { damaged })).toEqual(plan);
});

test.each([
  ['a new name with the bytes of a missing file is a move', { b: 'x' }, { a: 'x' }, { moves: { b: 'a' } }],
  ['other bytes are a delete and a new file', { b: 'y', c: 'z' }, { a: 'x', c: 'z' }, { puts: ['b'], deletes: ['a'] }],
  ['a copy is no move while the file is there', { a: 'x', b: 'x' }, { a: 'x' }, { puts: ['b'] }],
  [
    'empty files are all equal, so none is moved',
    { b: { sha256: 'x', bytes: 0 }, c: 'z' },
    { a: 'x', c: 'z' },
    { puts: ['b'], deletes: ['a'] },
  ],
  [
    'a known file that takes the bytes of a missing one is changed',
    { b: 'x' },
    { a: 'x', b: 'y' },
    { puts: ['b'], deletes: ['a'] },
  ],
  ['each missing file is moved once', { b: 'x', c: 'x' }, { a: 'x' }, { moves: { b: 'a' }, puts: ['c'] }],
  [
    'of files with the same bytes, the one with the same name moved',
    { 'new/a': 'x', 'new/b': 'x' },
    { 'old/b': 'x', 'old/a': 'x' },
    { moves: { 'new/a': 'old/a', 'new/b': 'old/b' } },
  ],
  [
    'another case of a name is a rename, whatever the bytes',
    { A: 'y' },
    { a: 'x' },
    { moves: { A: 'a' }, puts: ['A'] },
  ],
])('[CLI-2] a plan finds moves: %s', (_, files, base, plan) => {
  expect(planned(scanOf(files), stateOf(base))).toEqual(plan);
});

test.each([
  [
    'a name whose move the hub refused is a new file',
    { unmovable: new Set(paths('b')) },
    { puts: ['b'], deletes: ['a'] },
  ],
  ['a file whose name another entry took is not moved', { isReplaced: among('a') }, { puts: ['b'], deletes: ['a'] }],
  ['a file that is being uploaded is left alone', { isGoing: among('b') }, { deletes: ['a'] }],
  ['a missing file that is being uploaded is left alone', { isGoing: among('a') }, { puts: ['b'] }],
])('[CLI-2] a plan of a moved file: %s', (_, options, plan) => {
  expect(planned(scanOf({ b: 'x', c: 'z' }), stateOf({ a: 'x', c: 'z' }), options)).toEqual(plan);
});

test('[CLI-2] a respelled file whose upload is under way keeps its name until that has ended', () => {
  for (const going of ['a', 'A']) {
    expect(planned(scanOf({ A: 'x' }), stateOf({ a: 'x' }), { isGoing: among(going) })).not.toHaveProperty('moves');
  }
});

const FOUR = { a: 'v', b: 'x', c: 'y', d: 'z' };

test.each([
  ['half of the files are deleted', { c: 'y', d: 'z' }, {}, { deletes: ['a', 'b'] }],
  ['more than half are held', { d: 'z' }, {}, { held: ['a', 'b', 'c'] }],
  ['all are held', {}, {}, { held: ['a', 'b', 'c', 'd'] }],
  [
    'more than half are deleted when the user allows it',
    { d: 'z' },
    { allowDeletes: true },
    { deletes: ['a', 'b', 'c'] },
  ],
  ['one is held when the folder is another one', { b: 'x', c: 'y', d: 'z' }, { isOtherRoot: true }, { held: ['a'] }],
  [
    'one is deleted in another folder when the user allows it',
    { b: 'x', c: 'y', d: 'z' },
    { isOtherRoot: true, allowDeletes: true },
    { deletes: ['a'] },
  ],
  ['moved files are not counted', { e: 'v', f: 'x', g: 'y', d: 'z' }, {}, { moves: { e: 'a', f: 'b', g: 'c' } }],
  [
    'files that were replaced by a folder are not counted',
    { c: 'y', d: 'z' },
    { isReplaced: among('a') },
    { deletes: ['a', 'b'] },
  ],
  ['they are deleted while others are held', {}, { isReplaced: among('a') }, { deletes: ['a'], held: ['b', 'c', 'd'] }],
  ['changes are sent while deletes are held', { d: 'changed' }, {}, { puts: ['d'], held: ['a', 'b', 'c'] }],
])('[CLI-2] the guard of deletes: %s', (_, files, options, plan) => {
  expect(planned(scanOf(files), stateOf(FOUR), options)).toEqual(plan);
});

test.each([
  ['a large file that was just sent and changes rests', LARGE, SENT, { restsUntilMs: NOW_MS + 800 }],
  ['it is sent once it stands still', { ...LARGE, changedMs: NOW_MS - 1500 }, SENT, { puts: ['a'] }],
  ['it is sent when its pause is over', LARGE, new Map([['a', { inRow: 1, lastMs: NOW_MS - 1000 }]]), { puts: ['a'] }],
  ['a small one does not rest', { ...LARGE, bytes: 1000 }, SENT, { puts: ['a'] }],
  ['one that was never sent does not rest', LARGE, new Map(), { puts: ['a'] }],
])('[SYN-24] files to which programs keep writing: %s', (_, file, sends, plan) => {
  expect(planned(scanOf({ a: file }), stateOf({ a: 'x' }), { sends })).toEqual(plan);
});

test('[SYN-24] the first of several files that rest says when the next sync is due; a deleted one never rests', () => {
  const sends = new Map([...SENT, ['b', { inRow: 2, lastMs: NOW_MS - 100 }], ['c', { inRow: 9, lastMs: NOW_MS }]]);
  const local = scanOf({ a: LARGE, b: LARGE, d: 'z', e: 'z' });
  expect(planned(local, stateOf({ a: 'x', b: 'x', c: 'x', d: 'z', e: 'z' }), { sends })).toEqual({
    restsUntilMs: NOW_MS + 800,
    deletes: ['c'],
  });
});

test('[SYN-24] a refused path stops waiting when its file is another or gone', () => {
  const refused = { kind: 'push', local: 'x' } as const;
  const state = stateOf({}, { same: refused, other: refused, gone: refused, hub: { kind: 'hub', local: 'x' } });
  expect(refusedNoMore(scanOf({ same: 'x', other: 'y' }), state)).toEqual(['other', 'gone']);
});

test('[CLI-2] a conflict is compared again when its file changed since, unless it takes no part', () => {
  const conflict = { kind: 'conflict', local: 'x' } as const;
  const state = stateOf({}, { same: conflict, other: conflict, gone: conflict, out: conflict, hub: { kind: 'hub' } });
  const scan = scanOf({ same: 'x', other: 'y', hub: 'y' }, ['out']);
  expect(editedConflicts(scan, state, () => false)).toEqual(['other', 'gone']);
  expect(editedConflicts(scan, state, (path) => path === 'other')).toEqual(['gone']);
});

test('[SYN-35] a plan holds rewrites back from half of the folder on, and a file that counts already goes on', () => {
  const names = Array.from({ length: 40 }, (_, at) => `f${String(at).padStart(2, '0')}`);
  const [before, after] = ['x', 'y'].map((sha) => Object.fromEntries(names.map((name) => [name, sha])));
  const all = planned(scanOf(after ?? {}), stateOf(before ?? {}));
  expect(all).toEqual({ held: names });
  expect(planned(scanOf(after ?? {}), stateOf(before ?? {}), { allowRewrites: true })).toEqual({ puts: names });
  const window = { files: 40, deleted: 0, rewritten: 16 };
  const some = Object.fromEntries(names.map((name, at) => [name, at < 16 ? 'y' : 'x']));
  const isCounted = (path: string) => Number(path.slice(1)) < 16;
  expect(planned(scanOf(some), stateOf(before ?? {}), { window, isCounted })).toEqual({ puts: names.slice(0, 16) });
  expect(planned(scanOf(after ?? {}), stateOf(before ?? {}), { window, isCounted })).toEqual({
    puts: names.slice(0, 16),
    held: names.slice(16),
  });
});
