/** Revisions: the same number only while nothing changed, and none while a commit is under way. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Revisions } from '../../../src/store/changes/revisions.ts';
import { textCodec } from '../../../src/store/codec.ts';
import { defineTable } from '../../../src/store/table.ts';
import { seed } from '../../support/seed.ts';

const tables = ['a', 'b', 'c'].map((name) => defineTable<[string], string>(name, textCodec, {}));
const subsets = fc.subarray(tables, { minLength: 1 });

test(`[TASK-5] a revision is unknown exactly while one of its tables is being written, and new after it (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(subsets, subsets, fc.nat(4))), (steps) => {
      const revisions = new Revisions();
      const open: { readonly names: Set<string>; readonly settle: () => void }[] = [];
      /** Every revision that was told, with what had been committed to those tables then. */
      const told = new Map<string, Map<number, string>>();
      const commits = new Map<string, number>();
      for (const [written, asked, choice] of steps) {
        if (choice < 2) {
          const names = new Set(written.map(({ name }) => name));
          open.push({ names, settle: revisions.begin(names) });
        } else if (open.length > 0) {
          const [ended] = open.splice(choice % open.length, 1);
          ended?.settle();
          for (const name of ended?.names ?? []) commits.set(name, (commits.get(name) ?? 0) + 1);
        }
        const revision = revisions.of(asked);
        const busy = asked.some(({ name }) => open.some(({ names }) => names.has(name)));
        expect(revision === undefined).toBe(busy);
        if (revision === undefined) continue;
        const key = asked.map(({ name }) => name).join();
        const state = asked.map(({ name }) => commits.get(name) ?? 0).join();
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
  const revisions = new Revisions();
  const before = revisions.of(tables);
  const settle = revisions.begin(new Set());
  expect(revisions.of(tables)).toBe(before);
  settle();
  expect(revisions.of(tables)).toBe(before);
});

test('[TASK-5] of two commits to a table the revision is unknown until both are settled', () => {
  const revisions = new Revisions();
  const [first, second] = [revisions.begin(new Set(['a'])), revisions.begin(new Set(['a', 'b']))];
  first();
  expect(revisions.of(tables.slice(0, 1))).toBeUndefined();
  second();
  expect([revisions.of(tables.slice(0, 1)), revisions.of(tables.slice(1, 2))]).toEqual([2, 1]);
});
