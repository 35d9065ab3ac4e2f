/** Finds one page of a filtered, sorted list with its exact total, by the cheapest path. Read-only. */
import { compareTasks, countMatches, segmentsOf, type TaskFilter, type TaskOrder } from './query.ts';
import { readTasks } from './reads.ts';
import type { TaskReads } from './task-reads.ts';
import { walk } from './walk.ts';

export interface PageRequest {
  readonly filter: TaskFilter;
  readonly order: TaskOrder;
  readonly offset: number;
  readonly limit: number;
}

export interface PageIds {
  readonly ids: readonly number[];
  /** Number of matches on all pages. */
  readonly total: number;
}

/** Cost of reading a task record, in rows walked. */
const RECORD_COST_ROWS = 3;

/** Finds a page. Ignores the filter's creation and completion times. */
export function findPage(reads: TaskReads, accountId: string, { filter, order, offset, limit }: PageRequest): PageIds {
  const total = countMatches(reads, accountId, filter);
  const count = Math.min(limit, total - offset);
  if (count <= 0) return { ids: [], total };
  if (isWorthGathering(reads, accountId, filter, order, offset + count, total)) {
    return { ids: gather(reads, accountId, filter, order).slice(offset, offset + count), total };
  }
  // Walk from the nearer end.
  const behind = total - offset - count;
  const isBackward = behind < offset;
  const segments = segmentsOf(filter, order);
  const descending = isBackward ? !order.descending : order.descending;
  const way = { filter, segments: isBackward ? segments.reverse() : segments, descending };
  const ids: number[] = [];
  for (const id of walk(reads, accountId, { ...way, skip: isBackward ? behind : offset })) {
    ids.push(id);
    if (ids.length === count) break;
  }
  return { ids: isBackward ? ids.reverse() : ids, total };
}

/** True when sorting every task in the due-date range costs less than walking another order past all others. */
function isWorthGathering(
  reads: TaskReads,
  accountId: string,
  filter: TaskFilter,
  order: TaskOrder,
  wanted: number,
  matches: number,
): boolean {
  const { due, ...rest } = filter;
  if (due === undefined || order.sortBy === 'due_date') return false;
  const rows = countMatches(reads, accountId, rest);
  const walked = Math.min(rows, (Math.min(wanted, matches - wanted) + 1) * (rows / matches));
  return matches * RECORD_COST_ROWS < walked;
}

/** Returns every match of a due-date filter, sorted in memory. */
function gather(reads: TaskReads, accountId: string, filter: TaskFilter, order: TaskOrder): number[] {
  const segments = segmentsOf(filter, { sortBy: 'due_date', descending: false });
  const ids = [...walk(reads, accountId, { filter, segments, descending: false })];
  return readTasks(reads.rows, accountId, ids)
    .sort((a, b) => compareTasks(a, b, order))
    .map(({ id }) => id);
}
