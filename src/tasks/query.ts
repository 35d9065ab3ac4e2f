/**
 * Owns how a filtered, sorted list is found: which spaces it walks, in which direction, and how many match.
 * Tasks without the value that they are sorted by come last in either direction; ties follow the id.
 */
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { BUCKETS, contentKey, dayOf, type RowOrder, scopeOf, spaceOf, UNDATED } from './indexes.ts';
import { type KanbanStatus, type TaskRecord, taskCounts, taskDays, taskRows, tasks } from './records.ts';

export const SORT_FIELDS = ['due_date', 'created_at', 'updated_at', 'completed_at', 'is_important', 'content'] as const;

export type SortBy = (typeof SORT_FIELDS)[number];

export interface TaskOrder {
  readonly sortBy: SortBy;
  readonly descending: boolean;
}

/** From `low` to `high`, both included. */
export interface Span {
  readonly low: number;
  readonly high: number;
}

export interface TaskFilter {
  readonly categoryId?: number;
  readonly completed?: boolean;
  readonly isImportant?: boolean;
  readonly kanbanStatus?: KanbanStatus;
  /** Days since 1970-01-01. */
  readonly due?: Span;
  /** Milliseconds since the epoch. */
  readonly created?: Span;
  readonly completedAt?: Span;
}

/** A run of one order over some buckets, bounded by a span of its values. */
export interface Segment {
  readonly order: RowOrder;
  readonly buckets: readonly number[];
  readonly span?: Span | undefined;
}

interface Row {
  readonly value: number | string;
  readonly id: number;
  readonly day: number;
}

/** What a list follows when the caller does not say: newest and important first, dates and contents rising. */
export function defaultOrder(sortBy: SortBy = 'created_at'): TaskOrder {
  return { sortBy, descending: sortBy !== 'due_date' && sortBy !== 'content' };
}

/** The buckets whose tasks match. */
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

/** Exactly how many tasks match the buckets, the scope and the due dates of a filter. */
export function countMatches(reader: Pick<Store, 'get' | 'entries'>, accountId: string, filter: TaskFilter): number {
  const { due, ...rest } = filter;
  const buckets = bucketsOf(rest);
  const scope = scopeOf(rest.categoryId);
  const total = (counts: readonly number[] = []) => buckets.reduce((all, bucket) => all + (counts[bucket] ?? 0), 0);
  if (due === undefined) return total(reader.get(taskCounts, [accountId, scope])?.counts);
  let matches = 0;
  for (const { key, value } of reader.entries(taskDays, { prefix: [accountId, scope], beyond: due.low - 0.5 })) {
    if (key[2] > due.high) break;
    matches += total(value.counts);
  }
  return matches;
}

/** The segments that, one after another, hold every match in order. */
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
      // Ids rise with the time of creation, so this order ties by id.
      const rising = [created(buckets.filter((bucket) => !isImportant(bucket))), created(buckets.filter(isImportant))];
      return descending ? rising.reverse() : rising;
    }
    case 'completed_at':
      return [
        { order: 'completed', buckets: buckets.filter(isDone), span: filter.completedAt },
        created(buckets.filter((bucket) => !isDone(bucket))),
      ];
    case 'due_date': {
      const dated: Segment = { order: 'due', buckets, span: filter.due ?? { low: -UNDATED, high: UNDATED - 1 } };
      return filter.due === undefined
        ? [dated, { order: 'due', buckets, span: { low: UNDATED, high: UNDATED } }]
        : [dated];
    }
  }
}

/** The ids of the segments' tasks, in order; only those due within the filter's span. */
export function* walk(
  store: Store,
  accountId: string,
  filter: TaskFilter,
  segments: readonly Segment[],
  descending: boolean,
): Generator<number> {
  const { due } = filter;
  for (const segment of segments) {
    const sources = segment.buckets.map((bucket) =>
      readSpace(store, accountId, spaceOf(scopeOf(filter.categoryId), segment.order, bucket), segment.span, descending),
    );
    for (const row of merge(sources, descending)) {
      if (due === undefined || segment.order === 'due' || (row.day >= due.low && row.day <= due.high)) yield row.id;
    }
  }
}

/** The rows of one space within a span. */
function* readSpace(
  store: Store,
  accountId: string,
  space: string,
  span: Span | undefined,
  descending: boolean,
): Generator<Row> {
  const range = { prefix: [accountId, space], reverse: descending };
  // Values are whole numbers, so half a step lies between this span and whatever is next to it.
  const query = span === undefined ? range : { ...range, beyond: descending ? span.high + 0.5 : span.low - 0.5 };
  for (const { key, value: day } of store.entries(taskRows, query)) {
    const [, , value, id] = key;
    if (span !== undefined && (descending ? Number(value) < span.low : Number(value) > span.high)) return;
    yield { value, id, day };
  }
}

/** Sorted sources as one; every source is let go of when the reader stops early. */
function* merge(sources: readonly Generator<Row>[], descending: boolean): Generator<Row> {
  const sign = descending ? -1 : 1;
  const heads = sources.flatMap((source) => {
    const { value, done } = source.next();
    return done === true ? [] : [{ source, row: value }];
  });
  try {
    while (heads.length > 0) {
      let least = 0;
      for (let other = 1; other < heads.length; other += 1) {
        if (sign * compareRows((heads[other] as Head).row, (heads[least] as Head).row) < 0) least = other;
      }
      const head = heads[least] as Head;
      yield head.row;
      const { value, done } = head.source.next();
      if (done === true) heads.splice(least, 1);
      else head.row = value;
    }
  } finally {
    for (const source of sources) source.return(undefined);
  }
}

interface Head {
  readonly source: Generator<Row>;
  row: Row;
}

function compareRows(a: Row, b: Row): number {
  return compareValues(a.value, b.value) || a.id - b.id;
}

function compareValues(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return a === b ? 0 : compareCodePoints(String(a), String(b));
}

/** As the store orders strings, by UTF-8 bytes; the language's own order differs beyond the first plane. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all that one unit holds. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The same order for records in memory. */
export function compareTasks(a: TaskRecord, b: TaskRecord, { sortBy, descending }: TaskOrder): number {
  const sign = descending ? -1 : 1;
  const [x, y] = [sortValue(a, sortBy), sortValue(b, sortBy)];
  if (x === null || y === null) {
    if (x !== y) return x === null ? 1 : -1;
    return sign * (a.id - b.id);
  }
  return sign * (compareValues(x, y) || a.id - b.id);
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

/** A live task that an index row promised; undefined when the row stood for none. */
export function liveTask(reader: Pick<Reader, 'get'>, accountId: string, id: number): TaskRecord | undefined {
  const task = reader.get(tasks, [accountId, id]);
  return task?.deleted_at === null ? task : undefined;
}
