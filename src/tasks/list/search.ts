/**
 * Searches tasks for the list tool: besides the filters, by text and local days, which no index answers exactly.
 * Candidates are read from an index in order and tested one by one, up to a bounded number. It yields between
 * candidates, so that a caller can run it in turns. Read-only.
 */

import { limits } from '../../limits/service.ts';
import { DAY_MS, dayNumber } from '../../time/calendar.ts';
import type { Zone } from '../../time/zone.ts';
import type { TaskRecord } from '../declared.ts';
import { type Bounds, compareTasks, type SortBy, segmentsOf, type TaskFilter, type TaskOrder } from './query.ts';
import { liveTask } from './reads.ts';
import type { TaskReads } from './task-reads.ts';
import { walk } from './walk.ts';

/** First and last day, inclusive, either open. */
interface DayRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface TaskSearch {
  readonly filter: TaskFilter;
  readonly order: TaskOrder;
  readonly limit: number;
  /** Matches to skip before the first that is returned. */
  readonly offset?: number | undefined;
  /** Its words are all somewhere in the content, in any case and order. */
  readonly text?: string | undefined;
  /** Days in `zone`. */
  readonly createdOn?: DayRange | undefined;
  readonly completedOn?: DayRange | undefined;
  readonly zone: Zone;
}

export interface FoundIds {
  readonly ids: readonly number[];
  /** True when more tasks match than the limit, or the search reached its maximum of candidates. */
  readonly hasMore: boolean;
  /** False when the search stopped at its maximum of candidates. */
  readonly complete: boolean;
}

/** Finds the first matching tasks after those that are skipped, in order. */
export function* searchTasks(reads: TaskReads, accountId: string, search: TaskSearch): Generator<void, FoundIds> {
  const filter: TaskFilter = {
    ...search.filter,
    ...spanOf('created', search.createdOn, search.zone),
    ...spanOf('completedAt', search.completedOn, search.zone),
  };
  const isMatch = matcherOf(reads, accountId, search, filter);
  const ids: number[] = [];
  let [looked, skipped] = [0, 0];
  for (const id of yield* candidates(reads, accountId, filter, search.order)) {
    yield;
    looked += 1;
    if (looked > limits.taskScanMax) return { ids, hasMore: true, complete: false };
    if (isMatch !== undefined && !isMatch(id)) continue;
    if (skipped < (search.offset ?? 0)) {
      skipped += 1;
      continue;
    }
    if (ids.length === search.limit) return { ids, hasMore: true, complete: true };
    ids.push(id);
  }
  return { ids, hasMore: false, complete: true };
}

/** Returns the candidates in order: from a short range, sorted, or else by walking the order itself. */
function* candidates(
  reads: TaskReads,
  accountId: string,
  filter: TaskFilter,
  order: TaskOrder,
): Generator<void, Iterable<number>> {
  const gathered = yield* gatherRange(reads, accountId, filter, order);
  if (gathered !== undefined) return gathered;
  return walk(reads, accountId, { filter, segments: segmentsOf(filter, order), descending: order.descending });
}

/** Returns all tasks of a range on another value than the order's, sorted; undefined when no range is short enough. */
function* gatherRange(
  reads: TaskReads,
  accountId: string,
  filter: TaskFilter,
  order: TaskOrder,
): Generator<void, number[] | undefined> {
  const ranged = [
    { sortBy: 'completed_at', span: filter.completedAt },
    { sortBy: 'created_at', span: filter.created },
    { sortBy: 'due_date', span: filter.due },
  ] as const;
  for (const { sortBy, span } of ranged) {
    if (span === undefined || sortBy === order.sortBy) continue;
    const segments = segmentsOf(filter, { sortBy, descending: false });
    const ids: number[] = [];
    for (const id of walk(reads, accountId, { filter, segments, descending: false })) {
      yield;
      ids.push(id);
      if (ids.length > limits.taskGatherMax) break;
    }
    if (ids.length > limits.taskGatherMax) continue;
    const found: TaskRecord[] = [];
    for (const id of ids) {
      yield;
      const task = liveTask(reads.rows, accountId, id);
      if (task !== undefined) found.push(task);
    }
    return found.sort((a, b) => compareTasks(a, b, order)).map(({ id }) => id);
  }
  return undefined;
}

/** Returns the moments that can be on the days of a range; outside UTC some are not, so the day is tested as well. */
function spanOf<K extends 'created' | 'completedAt'>(
  name: K,
  range: DayRange | undefined,
  { slackDays }: Zone,
): { [N in K]?: Bounds } {
  if (range?.from === undefined && range?.to === undefined) return {};
  const { from, to } = range;
  const low = from === undefined ? Number.NEGATIVE_INFINITY : (dayNumber(from) - slackDays) * DAY_MS;
  const high = to === undefined ? Number.POSITIVE_INFINITY : (dayNumber(to) + 1 + slackDays) * DAY_MS - 1;
  return { [name]: { low, high } } as { [N in K]?: Bounds };
}

/** Returns the test for conditions not covered by the walked order; undefined: none. */
function matcherOf(reads: TaskReads, accountId: string, search: TaskSearch, filter: TaskFilter) {
  const { text, createdOn, completedOn, zone, order } = search;
  const isExact = (...orders: readonly SortBy[]) => zone.slackDays === 0 && orders.includes(order.sortBy);
  const isCreatedOpen = filter.created !== undefined && !isExact('created_at', 'is_important');
  const isCompletedOpen = filter.completedAt !== undefined && !isExact('completed_at');
  if (text === undefined && !isCreatedOpen && !isCompletedOpen) return undefined;
  const wanted = text === undefined ? [] : wordsOf(text);
  const isOn = (at: string | null, range: DayRange | undefined): boolean => {
    if (range === undefined) return true;
    if (at === null) return false;
    const day = zone.dayOf(Date.parse(at));
    return (range.from === undefined || day >= range.from) && (range.to === undefined || day <= range.to);
  };
  return (id: number): boolean => {
    const task = liveTask(reads.rows, accountId, id);
    return (
      task !== undefined &&
      isWith(task.content, wanted) &&
      (!isCreatedOpen || isOn(task.created_at, createdOn)) &&
      (!isCompletedOpen || isOn(task.completed_at, completedOn))
    );
  };
}

function wordsOf(text: string): readonly string[] {
  const folded = text.normalize('NFC').toLowerCase();
  const words = folded.split(/\s+/u).filter((word) => word !== '');
  return words.length > 0 ? words : [folded];
}

function isWith(content: string, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const folded = content.normalize('NFC').toLowerCase();
  return words.every((word) => folded.includes(word));
}
