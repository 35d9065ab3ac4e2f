/** Revisions: the same number only while nothing changed, and none while a commit is under way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Revisions } from '../../../src/store/changes/revisions.ts';
import { textCodec } from '../../../src/store/codec.ts';
import { defineTable } from '../../../src/store/table.ts';
import { seed } from '../../support/seed.ts';

const tables = ['a', 'b', 'c'].map((name) => defineTable<[string, string], string>(name, textCodec, {}));
const owners = ['acc_one', 'acc_two'];
const written = fc.array(fc.record({ table: fc.constantFrom('a', 'b', 'c'), owner: fc.constantFrom(...owners) }), {
  minLength: 1,
  maxLength: 4,
});
const asked = fc.record({
  of: fc.subarray(tables, { minLength: 1 }),
  owner: fc.option(fc.constantFrom(...owners), { nil: undefined }),
});
const rowsOf = (rows: readonly { table: string; owner: string }[]) =>
  rows.map(({ table: name, owner }) => ({ table: { name }, key: [owner, 'row'] }));

test(`[TASK-5] a revision is unknown exactly while what it is of is being written, and new after it (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(written, asked, fc.nat(4))), (steps) => {
      const revisions = new Revisions(tables);
      const open: { readonly rows: readonly { table: string; owner: string }[]; readonly settle: () => void }[] = [];
      /** Every revision that was told, with what had been committed to those rows then. */
      const told = new Map<string, Map<number, string>>();
      const commits: { table: string; owner: string }[][] = [];
      for (const [rows, { of, owner }, choice] of steps) {
        if (choice < 2) open.push({ rows, settle: revisions.begin(rowsOf(rows)) });
        else if (open.length > 0) {
          const [ended] = open.splice(choice % open.length, 1);
          ended?.settle();
          if (ended !== undefined) commits.push([...ended.rows]);
        }
        const touches = (row: { table: string; owner: string }) =>
          of.some(({ name }) => name === row.table) && (owner === undefined || owner === row.owner);
        const revision = revisions.of(of, owner);
        expect(revision === undefined).toBe(open.some((commit) => commit.rows.some(touches)));
        if (revision === undefined) continue;
        const key = `${owner} ${of.map(({ name }) => name).join()}`;
        const state = String(commits.filter((commit) => commit.some(touches)).length);
        const byRevision = told.get(key) ?? new Map<number, string>();
        told.set(key, byRevision);
        expect(byRevision.get(revision) ?? state).toBe(state);
        byRevision.set(revision, state);
      }
    }),
    { seed, numRuns: 500 },
  );
});

test('[TASK-5] a commit that wrote to no table changes no revision', () => {
  const revisions = new Revisions(tables);
  const before = revisions.of(tables);
  const settle = revisions.begin([]);
  expect(revisions.of(tables)).toBe(before);
  settle();
  expect(revisions.of(tables)).toBe(before);
});

test('[TASK-5] of two commits to a table the revision is unknown until both are settled', () => {
  const revisions = new Revisions(tables);
  const rows = [
    { table: { name: 'a' }, key: ['x'] },
    { table: { name: 'b' }, key: ['x'] },
  ];
  const [first, second] = [revisions.begin(rows.slice(0, 1)), revisions.begin(rows)];
  first();
  expect(revisions.of(tables.slice(0, 1))).toBeUndefined();
  second();
  expect([revisions.of(tables.slice(0, 1)), revisions.of(tables.slice(1, 2))]).toEqual([2, 1]);
});

test('[TASK-5] a write of one owner leaves the revision of another as it is', () => {
  const revisions = new Revisions(tables);
  const before = owners.map((owner) => revisions.of(tables, owner));
  const settle = revisions.begin(rowsOf([{ table: 'a', owner: 'acc_one' }]));
  expect([revisions.of(tables, 'acc_one'), revisions.of(tables, 'acc_two')]).toEqual([undefined, before[1]]);
  settle();
  expect([revisions.of(tables, 'acc_one'), revisions.of(tables, 'acc_two')]).not.toEqual(before);
  expect(revisions.of(tables, 'acc_two')).toBe(before[1]);
});
