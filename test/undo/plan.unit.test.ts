/** What each file, task and document was before a session, and which fields an undo may write. */
import { expect, test } from 'vitest';
import { firstOfLastRun, type MadeChange, planFields, planFiles, planRecords } from '../../src/undo/plan.ts';

test('[WEB-24] a path is undone once, from its first version of the session to its last', () => {
  const made = (path: string, seq: number, vaultId = 'v') => ({ vaultId, path, folded: path.toLowerCase(), seq });
  expect(planFiles([made('B.md', 9), made('a.md', 8), made('b.md', 7), made('b.md', 5), made('b.md', 1, 'w')])).toEqual(
    [
      { vaultId: 'v', path: 'B.md', folded: 'b.md', seqs: [5, 7, 9] },
      { vaultId: 'v', path: 'a.md', folded: 'a.md', seqs: [8] },
      { vaultId: 'w', path: 'b.md', folded: 'b.md', seqs: [1] },
    ],
  );
});

test.each([
  ['all of its versions', [5, 7, 9], 5],
  ['only the last ones, after that of somebody else', [5, 9], 9],
  ['the only one', [9], 9],
])('[FIND-7] a file is taken back over %s', (_, seqs, first) => {
  const previous = new Map([
    [9, 7],
    [7, 5],
    [5, 1],
    [1, 0],
  ]);
  expect(firstOfLastRun(seqs, (seq) => previous.get(seq))).toBe(first);
});

const change = (number: number, act: MadeChange['act'], before = {}, after = {}): MadeChange => ({
  number,
  kind: 'tasks',
  item: 1,
  name: `name ${number}`,
  act,
  before,
  after,
});

test('[WEB-24] a record becomes what it was before the first change of the session, each field by itself', () => {
  const [plan] = planRecords([
    change(9, 'changed', { content: 'b', kanban_status: 'todo' }, { content: 'c', kanban_status: 'done' }),
    change(8, 'changed', { content: 'a' }, { content: 'b' }),
  ]);
  expect(plan).toEqual({
    kind: 'tasks',
    item: 1,
    name: 'name 9',
    isNew: false,
    wasDeleted: undefined,
    before: { content: 'a', kanban_status: 'todo' },
    after: { content: 'c', kanban_status: 'done' },
    numbers: [8, 9],
  });
});

test.each([
  ['created, then changed', ['changed', 'created'], { isNew: true, wasDeleted: undefined }],
  ['deleted', ['deleted'], { isNew: false, wasDeleted: false }],
  ['deleted, then restored', ['restored', 'deleted'], { isNew: false, wasDeleted: false }],
  ['restored, then deleted', ['deleted', 'restored'], { isNew: false, wasDeleted: true }],
  ['restored', ['restored'], { isNew: false, wasDeleted: true }],
] as const)('[WEB-24] what a session %s is taken back from its beginning', (_, acts, expected) => {
  const [plan] = planRecords(acts.map((act, at) => change(10 - at, act)));
  expect(plan).toMatchObject(expected);
});

test.each([
  ['still as the session left it', { due: 'after' }, { write: { due: 'before' }, kept: [] }],
  ['already as before', { due: 'before' }, { write: {}, kept: [] }],
  ['changed since to something else', { due: 'other' }, { write: {}, kept: ['due'] }],
])('[WEB-24] a field that is %s', (_, current, expected) => {
  expect(planFields({ before: { due: 'before' }, after: { due: 'after' } }, current, () => 'merged')).toEqual(expected);
});

test('[WEB-24] a text changed since is taken back only where the two do not overlap', () => {
  const plan = { before: { content: 'before' }, after: { content: 'after' } };
  const texts: object[] = [];
  const merge = (result: string | undefined) => (given: object) => {
    texts.push(given);
    return result;
  };
  expect(planFields(plan, { content: 'now' }, merge('merged'))).toEqual({ write: { content: 'merged' }, kept: [] });
  expect(planFields(plan, { content: 'now' }, merge(undefined))).toEqual({ write: {}, kept: ['content'] });
  expect(texts).toEqual(Array(2).fill({ base: 'after', ours: 'now', theirs: 'before' }));
});

test('[FIND-7] a field that somebody else changed in between goes back to what that one made of it', () => {
  const [plan] = planRecords([
    change(9, 'changed', { content: 'theirs', due: 2 }, { content: 'c', due: 3 }),
    change(7, 'changed', { content: 'a', due: 1 }, { content: 'b', due: 2 }),
  ]);
  expect(plan).toMatchObject({ before: { content: 'theirs', due: 1 }, after: { content: 'c', due: 3 } });
});
