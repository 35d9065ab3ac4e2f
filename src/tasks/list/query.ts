/**
 * Plans a filtered, sorted list: which spaces contain its tasks in order, and how many match.
 * Tasks without the sort value come last in either direction; ties are ordered by id.
 */

import type { KanbanStatus, TaskRecord } from '../declared.ts';
import { BUCKETS, contentKey, dayOf, type RowOrder, taskScopeOf, UNDATED } from '../indexes.ts';
import { taskDays } from '../records.ts';
import type { TaskReads } from './task-reads.ts';

export const SORT_FIELDS = ['due_date', 'created_at', 'updated_at', 'completed_at', 'is_important', 'content'] as const;

export type SortBy = (typeof SORT_FIELDS)[number];

export interface TaskOrder {
  readonly sortBy: SortBy;
  readonly descending: boolean;
}

/** From `low` to `high`, inclusive; infinite where open. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
}

export interface TaskFilter {
  readonly categoryId?: number;
  readonly completed?: boolean;
  readonly isImportant?: boolean;
  readonly kanbanStatus?: KanbanStatus;
  /** Days since 1970-01-01. */
  readonly due?: Bounds;
  /** Milliseconds since the epoch. */
  readonly created?: Bounds;
  readonly completedAt?: Bounds;
}

/** A part of one order over some buckets, bounded by a range of its values. */
export interface Segment {
  readonly order: RowOrder;
  readonly buckets: readonly number[];
  readonly span?: Bounds | undefined;
}

/** Returns the default order: newest and important first, dates and contents ascending. */
export function defaultOrder(sortBy: SortBy = 'created_at'): TaskOrder {
  return { sortBy, descending: sortBy !== 'due_date' && sortBy !== 'content' };
}

function bucketsOf(filter: TaskFilter): number[] {
  const { completed, isImportant, kanbanStatus, completedAt } = filter;
  return BUCKETS.filter(
    (bucket) =>
      (completed === undefined || completed === (bucket.status === 'done')) &&
      (isImportant === undefined || isImportant === bucket.isImportant) &&
      (kanbanStatus === undefined || kanbanStatus === bucket.status) &&
      (completedAt === undefined || bucket.status === 'done'),
  ).map(({ bucket }) => bucket);
}

/** Returns the exact number of tasks matching the buckets, the scope and the due dates of a filter. */
export function countMatches(reads: TaskReads, accountId: string, filter: TaskFilter): number {
  const { due, ...rest } = filter;
  const buckets = bucketsOf(rest);
  const scope = taskScopeOf(rest.categoryId);
  const total = (counts: readonly number[]) => buckets.reduce((all, bucket) => all + (counts[bucket] ?? 0), 0);
  if (due === undefined) return total(reads.counts(accountId, scope));
  let matches = 0;
  for (const { key, value } of reads.rows.entries(taskDays, { prefix: [accountId, scope], beyond: due.low - 0.5 })) {
    if (key[2] > due.high) break;
    matches += total(value.counts);
  }
  return matches;
}

/** Returns the segments that contain, one after another, every match in order. */
export function segmentsOf(filter: TaskFilter, { sortBy, descending }: TaskOrder): Segment[] {
  const buckets = bucketsOf(filter);
  const isDone = (bucket: number) => BUCKETS[bucket]?.status === 'done';
  const isImportant = (bucket: number) => BUCKETS[bucket]?.isImportant === true;
  const created = (some: readonly number[]): Segment => ({ order: 'created', buckets: some, span: filter.created });
  switch (sortBy) {
    case 'created_at':
      return [created(buckets)];
    case 'updated_at':
      return [{ order: 'updated', buckets }];
    case 'content':
      return [{ order: 'content', buckets }];
    case 'is_important': {
      // Tasks of equal importance follow their creation time, then the id.
      const rising = [created(buckets.filter((bucket) => !isImportant(bucket))), created(buckets.filter(isImportant))];
      return descending ? rising.reverse() : rising;
    }
    case 'completed_at':
      return [
        { order: 'completed', buckets: buckets.filter(isDone), span: filter.completedAt },
        created(buckets.filter((bucket) => !isDone(bucket))),
      ];
    case 'due_date': {
      const dated: Segment = {
        order: 'due',
        buckets,
        span: filter.due ?? { low: Number.NEGATIVE_INFINITY, high: UNDATED - 1 },
      };
      return filter.due === undefined
        ? [dated, { order: 'due', buckets, span: { low: UNDATED, high: UNDATED } }]
        : [dated];
    }
  }
}

/** Compares records in memory by the same order. */
export function compareTasks(a: TaskRecord, b: TaskRecord, { sortBy, descending }: TaskOrder): number {
  const sign = descending ? -1 : 1;
  const [x, y] = [sortValue(a, sortBy), sortValue(b, sortBy)];
  if (x === null || y === null) {
    if (x !== y) return x === null ? 1 : -1;
    return sign * compareTies(a, b, sortBy);
  }
  return sign * (compareValues(x, y) || compareTies(a, b, sortBy));
}

/** Compares tasks of one value as their index does. Ids and creation times disagree after a clock that was wrong. */
function compareTies(a: TaskRecord, b: TaskRecord, sortBy: SortBy): number {
  const isByCreation = sortBy === 'is_important' || (sortBy === 'completed_at' && a.completed_at === null);
  return (isByCreation ? Date.parse(a.created_at) - Date.parse(b.created_at) : 0) || a.id - b.id;
}

/** Compares two values in the order of the store's keys. */
export function compareValues(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return a === b ? 0 : compareCodePoints(String(a), String(b));
}

/** Compares by UTF-8 bytes, as the store does; JavaScript's order differs beyond the first plane. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above all single UTF-16 units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function sortValue(task: TaskRecord, sortBy: SortBy): number | string | null {
  switch (sortBy) {
    case 'due_date':
      return task.due_date === null ? null : dayOf(task);
    case 'content':
      return contentKey(task.content);
    case 'is_important':
      return Number(task.is_important);
    case 'completed_at':
      return task.completed_at === null ? null : Date.parse(task.completed_at);
    default:
      return Date.parse(task[sortBy]);
  }
}

/** True when a filter selects a deleted category still present in task records. */
export function isAmong(cleared: ReadonlySet<number>, { categoryId }: TaskFilter): boolean {
  return categoryId !== undefined && cleared.has(categoryId);
}
