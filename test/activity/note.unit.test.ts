/** What is recorded of changes, how much of it is kept, and that it goes with what it is about: over a store. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ActivityLog } from '../../src/activity/log.ts';
import { actOf, changedFields, forgetChanges, noteChange } from '../../src/activity/note.ts';
import { activityTables, type ChangeRecord, charsOf } from '../../src/activity/records.ts';
import { verifyActivity } from '../../src/activity/verify.ts';
import { ActorRegistry } from '../../src/actors/registry.ts';
import { limits } from '../../src/limits/service.ts';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let store: Store;
let actors: ActorRegistry;
let log: ActivityLog;

beforeEach(() => {
  store = new Store({ folder: temporaryFolder(), tables: activityTables });
  actors = new ActorRegistry(store);
  log = new ActivityLog(store);
});

afterEach(async () => {
  expect(verifyActivity(new CheckedReader(store), { isAccount: () => true }).problems).toEqual([]);
  await actors.drain();
  await store.close();
});

const change = (item: number, atMs: number, over: Partial<ChangeRecord> = {}) => ({
  kind: 'tasks' as const,
  item,
  act: 'changed' as const,
  name: `task ${item}`,
  by: 'agent',
  atMs,
  before: {},
  after: {},
  ...over,
  ...(over.by === null ? { by: undefined } : {}),
});

const note = (accountId: string, ...changes: ReturnType<typeof change>[]) =>
  actors.account(accountId).ask((batch) => {
    for (const one of changes) noteChange(batch, accountId, { ...one, by: one.by ?? undefined });
  });

const times = (accountId: string, beforeMs = Number.POSITIVE_INFINITY) =>
  [...log.before(accountId, beforeMs)].map(({ at_ms: at }) => at);

test('[ACT-1] the counted characters of a change are those of its JSON', () => {
  const names = ['Renew it', '', 'a "quoted" \\ name', 'tab\there', 'größer', '한국어', '\u007f', '\ud800', "it's"];
  for (const name of names) {
    for (const by of [null, 'agent', name]) {
      for (const before of [{}, { content: name, due_date: null }]) {
        const record = {
          at_ms: 1_790_000_000_000,
          kind: 'tasks',
          item: 17,
          act: 'changed',
          name,
          by,
          before,
          after: {},
        } as const;
        expect(charsOf(record)).toBe(JSON.stringify(record).length);
      }
    }
  }
});

test('[ACT-1] changes are read newest first, before any time, by account and by item; several of one decision are kept', async () => {
  await note('a', change(1, 10), change(2, 20), change(1, 30));
  await note('a', change(2, 40));
  await note('b', change(1, 25));
  expect(times('a')).toEqual([40, 30, 20, 10]);
  expect([10, 11, 20, 21, 40, 41, 1000].map((ms) => times('a', ms))).toEqual([
    [],
    [10],
    [10],
    [20, 10],
    [30, 20, 10],
    [40, 30, 20, 10],
    [40, 30, 20, 10],
  ]);
  expect(log.of('a', 'tasks', 1, 10).map(({ number }) => number)).toEqual([3, 1]);
  expect([log.newestOf('a', 'tasks', 2), log.newestOf('a', 'docs', 2)]).toEqual([4, undefined]);
  expect(times('b')).toEqual([25]);
});

test('[ACT-1] the number and the characters of changes are bounded, and the newest stay', async () => {
  const many = Array.from({ length: 1000 }, (_, at) => change(at, at));
  for (let at = 0; at < limits.activityRowsMax; at += many.length) await note('a', ...many);
  await note('a', change(1, 5), change(2, 6));
  await note('a', change(3, 7));
  expect(times('a')).toHaveLength(limits.activityRowsMax);
  expect(times('a').slice(0, 4)).toEqual([7, 6, 5, 999]);
  const long = (item: number) => change(item, item, { before: { content: 'x'.repeat(1_000_000) } });
  for (let item = 1; item <= 10; item += 1) await note('b', long(item));
  expect(times('b')).toEqual([10, 9, 8, 7, 6, 5, 4, 3]);
});

test('[ACT-1] what is permanently deleted takes its changes along', async () => {
  await note('a', change(1, 1), change(2, 2), change(1, 3));
  await actors.account('a').ask((batch) => forgetChanges(batch, 'a', 'tasks', 1));
  expect(times('a')).toEqual([2]);
  await actors.account('a').ask((batch) => forgetChanges(batch, 'a', 'tasks', 1));
  await note('a', change(3, 4));
  expect([times('a'), log.newestOf('a', 'tasks', 3)]).toEqual([[4, 2], 4]);
});

test.each([
  [undefined, null, 'created'],
  [null, null, 'changed'],
  [null, '2026-11-20', 'deleted'],
  ['2026-11-20', null, 'restored'],
  ['2026-11-20', '2026-11-20', 'changed'],
] as const)('[ACT-1] deleted before at %s and after at %s is: %s', (before, after, act) => {
  expect(actOf(before === undefined ? undefined : { deleted_at: before }, { deleted_at: after })).toBe(act);
});

test('[ACT-1] only fields with another value are recorded, and none of a new record', () => {
  const before = { a: 1, b: ['x'], c: null };
  expect(changedFields(['a', 'b', 'c'], before, { a: 2, b: ['x'], c: 'y' })).toEqual({
    before: { a: 1, c: null },
    after: { a: 2, c: 'y' },
  });
  expect(changedFields(['a'], undefined, { a: 2 })).toEqual({ before: {}, after: {} });
});

test('[ACT-1] the name is the first line, cut between characters', async () => {
  await note(
    'a',
    change(1, 1, { name: `${'𝒳'.repeat(300)}\nsecond` }),
    change(2, 2, { name: 'first\nsecond', by: null }),
  );
  const [second, first] = [...log.before('a', 10)];
  expect([first?.name, second?.name, second?.by]).toEqual(['𝒳'.repeat(limits.activityNameCharsMax), 'first', null]);
});
