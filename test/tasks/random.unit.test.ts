/** Holds the tasks against the plainest ones that could be right, under random and under many writes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import type { TaskFields } from '../../src/tasks/fields.ts';
import { defined } from '../../src/tasks/list/arguments.ts';
import { verifyTasks } from '../../src/tasks/verify.ts';
import { runs, seed } from '../support/seed.ts';
import {
  ACCOUNT,
  DATES,
  expectManyRight,
  expectSameCategories,
  expectSameLists,
  expectSameSearches,
  fieldsArbitrary,
  possible,
} from './beside-model.ts';
import { Model } from './model.ts';
import { createFrom, type Desk, openDesk, patchFrom } from './support.ts';

const OTHER = 'acc_two';
const DAY_MS = 24 * 3600 * 1000;

type Command = fc.AsyncCommand<Model, Desk>;

/** What a command does to both; they must answer alike. */
function command(name: string, run: (model: Model, desk: Desk) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

const patchArbitrary: fc.Arbitrary<TaskFields> = fc.oneof(
  fieldsArbitrary,
  fc.record({ completed: fc.boolean() }),
  fc.record({ is_important: fc.boolean() }),
  fc.record({ due_date: fc.option(fc.constantFrom(...DATES)) }),
);

const idArbitrary = fc.integer({ min: 1, max: 30 });

const commandArbitraries: fc.Arbitrary<Command>[] = [
  ...Array.from({ length: 4 }, () =>
    fieldsArbitrary.map((fields) =>
      command(`create ${JSON.stringify(fields)}`, async (model, { tasks, clock }) => {
        const made = possible(model, fields);
        expect(await createFrom(tasks, ACCOUNT, made)).toEqual(model.create(made, clock.ms));
      }),
    ),
  ),
  ...Array.from({ length: 3 }, () =>
    fc.tuple(idArbitrary, patchArbitrary).map(([id, fields]) =>
      command(`patch ${id} ${JSON.stringify(fields)}`, async (model, { tasks, clock }) => {
        if (model.find(id) === undefined) return;
        const written = possible(model, fields);
        model.patch(id, written, clock.ms);
        expect(await patchFrom(tasks, ACCOUNT, id, written)).toEqual(model.find(id));
      }),
    ),
  ),
  idArbitrary.map((id) =>
    command(`remove ${id}`, async (model, { tasks, clock }) => {
      if (model.find(id) === undefined) return;
      model.remove(id, clock.ms);
      expect((await tasks.remove(ACCOUNT, id)).wasBinned).toBe(false);
    }),
  ),
  idArbitrary.map((id) =>
    command(`restore ${id}`, async (model, { tasks, clock }) => {
      if (!model.tasks.some((task) => task.id === id)) return;
      model.restore(id, clock.ms);
      expect(await tasks.patch(ACCOUNT, id, {}, { restore: true })).toEqual(model.find(id));
    }),
  ),
  fc.integer({ min: 0, max: 9 }).map((position) =>
    command(`category at ${position}`, async (model, { tasks }) => {
      const { id, name } = await tasks.categories.create(ACCOUNT, { name: `c${model.lastCategory}`, position });
      model.lastCategory += 1;
      expect(id).toBe(model.lastCategory);
      model.categories.push({ id, name, position });
    }),
  ),
  fc.integer({ min: 1, max: 4 }).map((id) =>
    command(`remove category ${id}`, async (model, { tasks, clock }) => {
      if (!model.categories.some((category) => category.id === id)) return;
      await tasks.categories.remove(ACCOUNT, id);
      model.removeCategory(id, clock.ms);
    }),
  ),
  fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }))
    .map(([id, position]) =>
      command(`restore category ${id} at ${position}`, async (model, { tasks }) => {
        if (!model.binned.some(({ category }) => category.id === id)) return;
        const { task_count } = await tasks.categories.patch(ACCOUNT, id, defined({ position }), true);
        model.restoreCategory(id, position);
        expect(task_count).toBe(model.live().filter(({ category_id }) => category_id === id).length);
      }),
    ),
  fc.constantFrom(-40 * DAY_MS, -1000, 0, 1, DAY_MS, 16 * DAY_MS).map((ms) =>
    command(`clock ${ms}`, async (_model, { clock }) => {
      clock.ms += ms;
    }),
  ),
  fc.constant(
    command('empty the bin', async (model, { tasks, clock }) => {
      expect(await tasks.emptyBin(clock.ms)).toBe(model.emptyBin(clock.ms));
    }),
  ),
  fc.constant(
    command('clear categories', async (model, { tasks, clock }) => {
      expect(await tasks.clearCategories()).toBe(model.clearCategories(clock.ms));
    }),
  ),
];

test(`[TASK-3, TASK-5, TASK-6, CAT-1] random writes leave every list, total and counter as a plain model has them (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commandArbitraries, { maxCommands: 100, size: 'max' }), async (commands) => {
      const desk = openDesk();
      const model = new Model();
      try {
        await desk.tasks.create(OTHER, { content: 'not yours' });
        await fc.asyncModelRun(() => ({ model, real: desk }), commands);
        await expectSameLists(desk, model, 7, (count) => Array.from({ length: count + 1 }, (_, page) => page));
        await expectSameSearches(desk, model);
        expectSameCategories(desk, model);
        expect(desk.tasks.get(OTHER, 1).content).toBe('not yours');
        expect(verifyTasks(new CheckedReader(desk.store)).problems).toEqual([]);
      } finally {
        await desk.close();
      }
    }),
    { seed, numRuns: runs(3, 30) },
  );
}, 240_000);

// test/tasks/many.long.test.ts has 10,000 of them.
test('[TASK-3] 500 tasks: every filter in every order gives the right pages and totals', async () => {
  await expectManyRight(500);
}, 240_000);
