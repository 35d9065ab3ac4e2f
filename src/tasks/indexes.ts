/**
 * Maintains the indexes of live tasks: their rows in each order, and the counters.
 * A bucket is a status and an importance, eight in all; a scope is the whole account or one category. A space is one
 * order of one bucket in one scope. So every filter except the due dates selects whole spaces, and a list merges at
 * most eight of them; totals are sums of at most eight counters.
 */

import { memo } from '../common/memo.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import type { Key, Table } from '../store/table.ts';
import { dayNumber } from '../time/calendar.ts';
import { KANBAN_STATUSES, type TaskRecord } from './declared.ts';
import { type BucketCounts, taskCounts, taskDays, taskRows } from './records.ts';

/** The indexed orders. Only completed tasks are in the order of completion. */
export type RowOrder = 'created' | 'updated' | 'completed' | 'due' | 'content';

export const BUCKETS = KANBAN_STATUSES.flatMap((status, index) => [
  { bucket: index * 2, status, isImportant: false },
  { bucket: index * 2 + 1, status, isImportant: true },
]);

/** The scope of the whole account. */
const ALL = '*';

/** Due day of tasks without a due date: after every calendar day. */
export const UNDATED = 10_000_000;

export interface TaskRow {
  readonly space: string;
  readonly value: number | string;
  readonly day: number;
}

export function taskScopeOf(categoryId: number | undefined): string {
  return categoryId === undefined ? ALL : String(categoryId);
}

export function spaceOf(scope: string, order: RowOrder, bucket: number): string {
  // Every task is in a space of the whole account: their names are made once.
  return (scope === ALL ? SPACES_OF_ALL[order][bucket] : undefined) ?? `${scope}:${order}:${bucket}`;
}

const spacesOfAll = (order: RowOrder) => BUCKETS.map(({ bucket }) => `${ALL}:${order}:${bucket}`);
const SPACES_OF_ALL: Readonly<Record<RowOrder, readonly string[]>> = {
  created: spacesOfAll('created'),
  updated: spacesOfAll('updated'),
  completed: spacesOfAll('completed'),
  due: spacesOfAll('due'),
  content: spacesOfAll('content'),
};

export function bucketOf(task: TaskRecord): number {
  return KANBAN_STATUSES.indexOf(task.kanban_status) * 2 + (task.is_important ? 1 : 0);
}

export function scopesOf(task: TaskRecord): string[] {
  return task.category_id === null ? [ALL] : [ALL, String(task.category_id)];
}

export function dayOf(task: TaskRecord): number {
  return task.due_date === null ? UNDATED : dayNumber(task.due_date);
}

/** Returns the sort key of a content: its beginning, ignoring case. Equal keys are ordered by id. */
export function contentKey(content: string): string {
  const beginning = content.trim().slice(0, limits.taskSortCharsMax);
  if (PLAIN.test(beginning)) return beginning.toLowerCase();
  const folded = beginning.normalize('NFC').toLowerCase().slice(0, limits.taskSortCharsMax);
  // Control characters and the last code point delimit keys in the store; a lone surrogate is not a character.
  return folded.replace(/\p{Cc}|\p{Cs}|\u{10ffff}/gu, ' ');
}

/** Printable ASCII, which nothing below changes but its case. */
const PLAIN = /^[ -~]*$/;

export function rowsOf(task: TaskRecord): TaskRow[] {
  const day = dayOf(task);
  const bucket = bucketOf(task);
  const createdMs = Date.parse(task.created_at);
  const updatedMs = task.updated_at === task.created_at ? createdMs : Date.parse(task.updated_at);
  const content = contentKey(task.content);
  const rows: TaskRow[] = [];
  for (const scope of scopesOf(task)) {
    rows.push(
      { space: spaceOf(scope, 'created', bucket), value: createdMs, day },
      { space: spaceOf(scope, 'updated', bucket), value: updatedMs, day },
      { space: spaceOf(scope, 'due', bucket), value: day, day },
      { space: spaceOf(scope, 'content', bucket), value: content, day },
    );
    if (task.completed_at !== null) {
      rows.push({ space: spaceOf(scope, 'completed', bucket), value: Date.parse(task.completed_at), day });
    }
  }
  return rows;
}

/** A counter of tasks: of a scope, or of one due day in it. */
type Counter =
  | { readonly table: typeof taskCounts; readonly key: [accountId: string, scope: string] }
  | { readonly table: typeof taskDays; readonly key: [accountId: string, scope: string, day: number] };

/** The index changes of one decision: rows are written immediately, counters are summed and written by `finish`. */
export class IndexChange {
  readonly #batch: Batch;
  readonly #accountId: string;
  readonly #sums = new Map<string, { readonly counter: Counter; readonly deltas: number[] }>();

  constructor(batch: Batch, accountId: string) {
    this.#batch = batch;
    this.#accountId = accountId;
  }

  /** Updates the indexes for a live task changed, added (`before` undefined) or removed (`after` undefined). */
  move(before: TaskRecord | undefined, after: TaskRecord | undefined): void {
    this.#moveRows(before, after);
    if (before !== undefined) this.#count(before, -1);
    if (after !== undefined) this.#count(after, 1);
  }

  /** As `move`, for the only task of a change, which is new: its counters need no sums. */
  add(task: TaskRecord): void {
    this.#moveRows(undefined, task);
    const deltas = noCounts();
    add(deltas, bucketOf(task), 1);
    for (const counter of this.#countersOf(task)) this.#addTo(counter, deltas);
  }

  finish(): void {
    for (const { counter, deltas } of this.#sums.values()) this.#addTo(counter, deltas);
  }

  #addTo(counter: Counter, deltas: readonly number[]): void {
    if (isEmpty(deltas)) return;
    const { table, key } = counter as { readonly table: Table<Key, BucketCounts>; readonly key: Key };
    const counts = sum(this.#batch.get(table, key)?.counts, deltas);
    if (isEmpty(counts)) this.#batch.remove(table, key);
    else this.#batch.put(table, key, { counts });
  }

  #moveRows(before: TaskRecord | undefined, after: TaskRecord | undefined): void {
    if (before === undefined) {
      if (after !== undefined) for (const row of rowsOf(after)) this.#putRow(row, after.id);
      return;
    }
    const nameOf = ({ space, value }: TaskRow) => `${space} ${value}`;
    const stale = new Map(rowsOf(before).map((row) => [nameOf(row), row]));
    for (const row of after === undefined ? [] : rowsOf(after)) {
      const name = nameOf(row);
      const kept = stale.get(name);
      stale.delete(name);
      if (kept?.day !== row.day) this.#putRow(row, (after as TaskRecord).id);
    }
    for (const { space, value } of stale.values()) {
      this.#batch.remove(taskRows, [this.#accountId, space, value, before.id]);
    }
  }

  #putRow({ space, value, day }: TaskRow, id: number): void {
    this.#batch.put(taskRows, [this.#accountId, space, value, id], day);
  }

  #count(task: TaskRecord, delta: number): void {
    for (const counter of this.#countersOf(task)) {
      const { deltas } = memo(this.#sums, counter.key.join(' '), () => ({ counter, deltas: noCounts() }));
      add(deltas, bucketOf(task), delta);
    }
  }

  #countersOf(task: TaskRecord): Counter[] {
    const day = dayOf(task);
    const counters: Counter[] = [];
    for (const scope of scopesOf(task)) {
      counters.push({ table: taskCounts, key: [this.#accountId, scope] });
      if (day !== UNDATED) counters.push({ table: taskDays, key: [this.#accountId, scope, day] });
    }
    return counters;
  }
}

/** Updates the indexes for one task, as `IndexChange` does for many. */
export function moveInIndexes(
  batch: Batch,
  accountId: string,
  before: TaskRecord | undefined,
  after: TaskRecord | undefined,
): void {
  const change = new IndexChange(batch, accountId);
  if (before === undefined && after !== undefined) change.add(after);
  else change.move(before, after);
  change.finish();
}

export function noCounts(): number[] {
  return NO_COUNTS.slice();
}

const NO_COUNTS: readonly number[] = BUCKETS.map(() => 0);

function add(counts: number[], bucket: number, delta: number): void {
  counts[bucket] = (counts[bucket] ?? 0) + delta;
}

/** Throws for a counter below zero: it could not be stored, and a group of decisions stores it after they are made. */
function sum(counts: readonly number[] | undefined, deltas: readonly number[]): number[] {
  return deltas.map((delta, bucket) => {
    const count = (counts?.[bucket] ?? 0) + delta;
    if (count < 0) throw new RangeError('a counter of tasks would be below zero');
    return count;
  });
}

function isEmpty(counts: readonly number[]): boolean {
  return counts.every((count) => count === 0);
}
