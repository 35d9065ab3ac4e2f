/** Proves that a deleted category is gone at once, can be restored, and is then rewritten out of its tasks a few at a time. */
import { expect, test, vi } from 'vitest';
import { activityChanges } from '../../src/activity/records.ts';
import { limits } from '../../src/limits/service.ts';
import { CheckedReader } from '../../src/store/checked-reader.ts';
import { bytesCodec } from '../../src/store/codec.ts';
import { UPGRADE } from '../../src/store/owners.ts';
import { defineUnsummedTable } from '../../src/store/table.ts';
import type { TaskRecord } from '../../src/tasks/declared.ts';
import { categoryBin, clearedCategories, tasks as taskTable } from '../../src/tasks/records.ts';
import { verifyTasks } from '../../src/tasks/verify.ts';
import { DAY_MS } from '../../src/time/calendar.ts';
import { openZone } from '../../src/time/zone.ts';
import { PATIENTLY } from '../support/receiver.ts';
import { type Desk, openDesk, refusedFields } from './support.ts';

const WHO = 'acc_1';
const COUNT = limits.categoryClearTasksMax * 3;
const order = { sortBy: 'created_at', descending: false } as const;

/** A category with many tasks, deleted, and not one of them rewritten yet. */
async function openDeleted(): Promise<Desk> {
  const desk = openDesk();
  const { tasks } = desk;
  await tasks.categories.create(WHO, { name: 'home' });
  await Promise.all(
    Array.from({ length: COUNT }, (_, n) => tasks.create(WHO, { content: `task ${n}`, category_id: 1 })),
  );
  await tasks.categories.remove(WHO, 1);
  expect([...desk.store.keys(clearedCategories)]).toEqual([[WHO, 1]]);
  return desk;
}

const problems = (desk: Desk) => verifyTasks(new CheckedReader(desk.store)).problems;
const category = (task: TaskRecord | undefined) => task?.category_id;

test('[CAT-1] no read shows a deleted category, however many tasks had it', async () => {
  const desk = await openDeleted();
  const { tasks } = desk;
  const page = { order, offset: 0, limit: COUNT };
  expect(category(tasks.get(WHO, 1))).toBeNull();
  const all = tasks.list(WHO, { ...page, filter: {} });
  expect([all.total, all.tasks.some((task) => task.category_id !== null)]).toEqual([COUNT, false]);
  const texts = tasks.listShown(WHO, { ...page, filter: {} }).tasks;
  expect(texts.map(({ json }) => JSON.parse(json) as TaskRecord).some((task) => task.category_id !== null)).toBe(false);
  expect(tasks.list(WHO, { ...page, filter: { categoryId: 1 } })).toEqual({ tasks: [], total: 0 });
  const search = { filter: { categoryId: 1 }, order, limit: 10, zone: openZone('UTC') };
  expect(await tasks.searchShown(WHO, search)).toEqual({ tasks: [], hasMore: false, complete: true });
  const found = await tasks.searchShown(WHO, { ...search, filter: {} });
  expect(found.tasks.map(({ json }) => category(JSON.parse(json) as TaskRecord))).toEqual(Array(10).fill(null));
  expect(tasks.categories.list(WHO)).toEqual([]);
  expect(await refusedFields(() => tasks.create(WHO, { content: 'a', category_id: 1 }))).toHaveProperty('category_id');
  expect(problems(desk)).toEqual([]);
  await desk.close();
});

test('[CAT-1] tasks of a deleted category are written as if they never had it', async () => {
  const desk = await openDeleted();
  const { tasks } = desk;
  await tasks.categories.create(WHO, { name: 'work' });
  expect(await tasks.patch(WHO, 1, { content: 'changed' })).toMatchObject({ content: 'changed', category_id: null });
  expect(await tasks.patch(WHO, 2, { category_id: 2 })).toMatchObject({ category_id: 2 });
  expect(await tasks.patch(WHO, 3, { category_id: null })).toMatchObject({ category_id: null });
  expect((await tasks.remove(WHO, 4)).task.category_id).toBeNull();
  await tasks.remove(WHO, 5);
  expect(await tasks.patch(WHO, 5, {}, { restore: true })).toMatchObject({ category_id: null });
  expect(problems(desk)).toEqual([]);
  expect(tasks.categories.get(WHO, 2).task_count).toBe(1);
  await desk.close();
});

test('[CAT-1, OPS-2] what a stop left is finished by the next start, and meanwhile shows nowhere', async () => {
  const desk = await openDeleted();
  const again = openDesk(desk.store);
  expect(category(again.tasks.get(WHO, COUNT))).toBeNull();
  expect(await again.tasks.clearCategories()).toBe(0);
  again.clock.ms += limits.binDays * DAY_MS;
  expect(await again.tasks.clearCategories()).toBe(1);
  expect([...desk.store.keys(clearedCategories)]).toEqual([]);
  expect(category(desk.store.get(taskTable, [WHO, COUNT]))).toBeNull();
  expect(again.tasks.list(WHO, { filter: {}, order, offset: 0, limit: 1 }).total).toBe(COUNT);
  expect(problems(desk)).toEqual([]);
  expect(await again.tasks.clearCategories()).toBe(0);
  await desk.close();
});

test('[CAT-1] restored, a category has its tasks again: those that were changed or deleted meanwhile as well', async () => {
  const desk = await openDeleted();
  const { tasks } = desk;
  await tasks.categories.create(WHO, { name: 'work' });
  await tasks.patch(WHO, 1, { content: 'changed' });
  await tasks.patch(WHO, 2, { category_id: 2 });
  await tasks.patch(WHO, 3, { category_id: null });
  await tasks.remove(WHO, 4);
  await tasks.remove(WHO, 5);
  expect(await tasks.patch(WHO, 5, {}, { restore: true })).toMatchObject({ category_id: null });
  expect(await tasks.categories.patch(WHO, 1, {}, true)).toMatchObject({ name: 'home', task_count: COUNT - 2 });
  // None where none is shown is no other category: forms and clients send back what they read.
  expect([1, 2, 3, 5, 6].map((id) => category(tasks.get(WHO, id)))).toEqual([1, 2, 1, 1, 1]);
  expect(await tasks.patch(WHO, 4, {}, { restore: true })).toMatchObject({ category_id: 1 });
  desk.clock.ms += limits.binDays * DAY_MS;
  expect(await tasks.clearCategories()).toBe(0);
  expect(tasks.categories.get(WHO, 1).task_count).toBe(COUNT - 1);
  expect(problems(desk)).toEqual([]);
  await desk.close();
});

test('[CAT-1] of very many deleted categories the oldest go for good, and so does one whose tasks are being rewritten', async () => {
  const desk = await openDeleted();
  const { tasks } = desk;
  for (let made = 0; made < limits.categoriesBinnedMax; made += 1) {
    desk.clock.ms += 1000;
    const { id } = await tasks.categories.create(WHO, { name: `c${made}` });
    await tasks.categories.remove(WHO, id);
  }
  await tasks.clearCategories();
  expect(tasks.categories.deleted(WHO).map(({ id }) => id)).toEqual(
    Array.from({ length: limits.categoriesBinnedMax }, (_, at) => limits.categoriesBinnedMax + 1 - at),
  );
  await expect(tasks.categories.patch(WHO, 1, {}, true)).rejects.toMatchObject({ fault: { kind: 'not_found' } });
  expect(category(desk.store.get(taskTable, [WHO, COUNT]))).toBeNull();
  expect(problems(desk)).toEqual([]);
  await desk.close();
});

test('[CAT-1] a client that sends back a whole task, with none for its deleted category, leaves that to be restored', async () => {
  const desk = await openDeleted();
  const { tasks } = desk;
  expect(await tasks.patch(WHO, 1, { content: 'changed', category_id: null })).toMatchObject({ category_id: null });
  expect(await tasks.categories.patch(WHO, 1, {}, true)).toMatchObject({ task_count: COUNT });
  expect(tasks.get(WHO, 1)).toMatchObject({ content: 'changed', category_id: 1 });
  expect(await tasks.patch(WHO, 1, { category_id: null })).toMatchObject({ category_id: null });
  expect(tasks.categories.get(WHO, 1).task_count).toBe(COUNT - 1);
  expect(problems(desk)).toEqual([]);
  await desk.close();
});

test('[CAT-1, ACT-1] the deletion of a task notes no change of a category that was deleted before', async () => {
  const desk = await openDeleted();
  await desk.tasks.remove(WHO, 1);
  const changes = desk.store.range(activityChanges, { prefix: [WHO] }).map(({ value }) => value);
  const { act, item, before, after } = changes.at(-1) ?? {};
  expect([act, item, before, after]).toEqual(['deleted', 1, {}, {}]);
  await desk.close();
});

test('[CAT-1, OPS-12] one category too many in a trash ends none of another account: the clock may be wrong', async () => {
  const desk = await openDeleted();
  const { tasks } = desk;
  desk.clock.ms += limits.binDays * DAY_MS;
  for (let made = 0; made <= limits.categoriesBinnedMax; made += 1) {
    const { id } = await tasks.categories.create('acc_2', { name: `c${made}` });
    await tasks.categories.remove('acc_2', id);
  }
  await vi.waitFor(
    () => expect([...desk.store.keys(clearedCategories, ['acc_2'])]).toHaveLength(limits.categoriesBinnedMax),
    PATIENTLY,
  );
  expect(tasks.categories.deleted(WHO)).toHaveLength(1);
  expect(await tasks.clearCategories()).toBe(1);
  await desk.close();
});

test('[CAT-1, OPS-9] a category in the trash whose mark an earlier build cleared is one without tasks, for 30 days', async () => {
  const desk = await openDeleted();
  const { store } = desk;
  await desk.tasks.categories.create(WHO, { name: 'work' });
  await desk.tasks.categories.remove(WHO, 2);
  // A build from before the trash clears each mark at its start, and does not know the table of the trash.
  await store.write(UPGRADE, (batch) => batch.remove(clearedCategories, [WHO, 2]));
  const again = openDesk(store);
  expect(problems(again)).toEqual([]);
  expect(await again.tasks.clearCategories()).toBe(0);
  expect(again.tasks.categories.deleted(WHO).map(({ id }) => id)).toEqual([2, 1]);
  again.clock.ms += limits.binDays * DAY_MS;
  expect(await again.tasks.clearCategories()).toBe(2);
  expect(again.tasks.categories.deleted(WHO)).toEqual([]);
  expect([...store.keys(clearedCategories)]).toEqual([]);
  await desk.close();
});

test('[CAT-1, OPS-23] a damaged row of the trash of one account does not keep categories of others', async () => {
  const desk = await openDeleted();
  const { store, tasks } = desk;
  await tasks.categories.create('acc_0', { name: 'rotten' });
  await tasks.categories.remove('acc_0', 1);
  const rows = defineUnsummedTable(categoryBin.name, bytesCodec, categoryBin.owners);
  await store.write(UPGRADE, (batch) => batch.put(rows, ['acc_0', 1], new Uint8Array(40)));
  const again = openDesk(store);
  again.clock.ms += limits.binDays * DAY_MS;
  expect(await again.tasks.clearCategories()).toBe(1);
  expect(category(store.get(taskTable, [WHO, COUNT]))).toBeNull();
  await desk.close();
});

test('[CAT-1] a category that is restored while its tasks wait to be rewritten keeps them, and does not count', async () => {
  const desk = await openDeleted();
  const { tasks } = desk;
  desk.clock.ms += limits.binDays * DAY_MS;
  const restored = tasks.categories.patch(WHO, 1, {}, true);
  expect(await tasks.clearCategories()).toBe(0);
  expect(await restored).toMatchObject({ task_count: COUNT });
  expect(problems(desk)).toEqual([]);
  await desk.close();
});
