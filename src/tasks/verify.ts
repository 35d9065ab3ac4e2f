/** Checks tasks and categories: every row and counter against a recount of the tasks themselves. Read-only. */
import type { CheckedReader } from '../store/checked-reader.ts';
import { keyText } from '../store/row-sums.ts';
import type { TaskRecord } from './declared.ts';
import { bucketOf, dayOf, noCounts, rowsOf, scopesOf, UNDATED } from './indexes.ts';
import {
  categories,
  categoryBin,
  clearedCategories,
  taskBin,
  taskCounts,
  taskDays,
  taskHeads,
  taskRows,
  tasks,
} from './records.ts';
import { foldCategoryName } from './rules.ts';

export interface TasksReport {
  /** Includes deleted tasks. */
  readonly tasks: number;
  readonly categories: number;
  readonly problems: string[];
}

/** Expected contents of indexes and counters, computed from the tasks. */
interface Recount {
  tasks: number;
  rows: number;
  binned: number;
  readonly scopes: Map<string, number[]>;
  readonly days: Map<string, number[]>;
}

export function verifyTasks(reader: CheckedReader): TasksReport {
  const problems: string[] = [];
  const recount: Recount = { tasks: 0, rows: 0, binned: 0, scopes: new Map(), days: new Map() };
  reader.each(tasks, ({ key, value }) => {
    recount.tasks += 1;
    checkTask(reader, key[0], key[1], value, problems);
    if (value.deleted_at === null) countLive(recount, key[0], value);
    else recount.binned += 1;
  });
  const surplus = (what: string, found: number, expected: number) => {
    if (found !== expected) problems.push(`${what}: ${found} rows instead of ${expected}`);
  };
  surplus('orders of tasks', countOf(reader.keys(taskRows)), recount.rows);
  surplus('bin', countOf(reader.keys(taskBin)), recount.binned);
  reader.each(taskCounts, ({ key, value }) => {
    checkCounts(`counter ${keyText(key)}`, value.counts, recount.scopes, keyText(key), problems);
  });
  reader.each(taskDays, ({ key, value }) => {
    checkCounts(`day ${keyText(key)}`, value.counts, recount.days, keyText(key), problems);
  });
  for (const name of [...recount.scopes.keys(), ...recount.days.keys()]) problems.push(`counter ${name}: missing`);
  return { tasks: recount.tasks, categories: checkCategories(reader, problems), problems };
}

function checkTask(reader: CheckedReader, accountId: string, id: number, task: TaskRecord, problems: string[]): void {
  const name = `task ${accountId} ${id}`;
  if (task.id !== id) problems.push(`${name}: the record has id ${task.id}`);
  if (task.completed !== (task.kanban_status === 'done') || task.completed !== (task.completed_at !== null)) {
    problems.push(`${name}: its status contradicts its completion`);
  }
  if ((reader.get(taskHeads, [accountId])?.task_id ?? 0) < id) problems.push(`${name}: its id could be reused`);
  if (task.deleted_at !== null) {
    if (reader.get(taskBin, [Date.parse(task.deleted_at), accountId, id]) === undefined) {
      problems.push(`${name}: deleted, but not in the trash`);
    }
    return;
  }
  const { category_id: categoryId } = task;
  if (categoryId !== null && !isKnownCategory(reader, [accountId, categoryId])) {
    problems.push(`${name}: its category ${categoryId} does not exist`);
  }
  for (const { space, value, day } of rowsOf(task)) {
    if (reader.get(taskRows, [accountId, space, value, id]) !== day)
      problems.push(`${name}: wrong position in ${space}`);
  }
}

/** True for a category that exists, is in the trash or is being cleared from its tasks. */
function isKnownCategory(reader: CheckedReader, key: [accountId: string, categoryId: number]): boolean {
  return reader.get(categories, key) !== undefined || reader.get(clearedCategories, key) !== undefined;
}

function countLive(recount: Recount, accountId: string, task: TaskRecord): void {
  recount.rows += rowsOf(task).length;
  const bucket = bucketOf(task);
  const day = dayOf(task);
  for (const scope of scopesOf(task)) {
    countIn(recount.scopes, `${accountId} ${scope}`, bucket);
    if (day !== UNDATED) countIn(recount.days, `${accountId} ${scope} ${day}`, bucket);
  }
}

function countIn(counters: Map<string, number[]>, name: string, bucket: number): void {
  const counts = counters.get(name) ?? noCounts();
  counts[bucket] = (counts[bucket] ?? 0) + 1;
  counters.set(name, counts);
}

/** Compares counters with the recount and removes them from it, so that the rest is missing from the store. */
function checkCounts(
  what: string,
  found: readonly number[],
  recount: Map<string, number[]>,
  name: string,
  problems: string[],
): void {
  const expected = recount.get(name) ?? noCounts();
  recount.delete(name);
  if (expected.some((count, bucket) => count !== found[bucket])) {
    problems.push(`${what}: ${found.join(',')} instead of ${expected.join(',')}`);
  }
}

function checkCategories(reader: CheckedReader, problems: string[]): number {
  const names = new Set<string>();
  let found = 0;
  reader.each(categories, ({ key, value }) => {
    found += 1;
    const name = `${key[0]} ${foldCategoryName(value.name)}`;
    if (names.has(name)) problems.push(`category ${keyText(key)}: another category has the same name`);
    names.add(name);
    if (value.id !== key[1]) problems.push(`category ${keyText(key)}: the record has id ${value.id}`);
    if ((reader.get(taskHeads, [key[0]])?.category_id ?? 0) < value.id) {
      problems.push(`category ${keyText(key)}: its id could be reused`);
    }
  });
  reader.each(categoryBin, ({ key }) => {
    // One that is not to be cleared is without tasks: an earlier build cleared it, which does not know this table.
    if (reader.get(categories, key) !== undefined) problems.push(`deleted category ${keyText(key)}: it also exists`);
  });
  return found;
}

function countOf(keys: Iterable<unknown>): number {
  let count = 0;
  for (const _ of keys) count += 1;
  return count;
}
