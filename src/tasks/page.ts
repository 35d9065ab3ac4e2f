/** Owns one page of a filtered, sorted list with its exact total, and how a short way to it is chosen. Only reads. */
import type { Store } from '../store/store.ts';
import { compareTasks, countMatches, liveTask, segmentsOf, type TaskFilter, type TaskOrder, walk } from './query.ts';
import type { TaskRecord } from './records.ts';

export interface PageRequest {
  readonly filter: TaskFilter;
  readonly order: TaskOrder;
  readonly offset: number;
  readonly limit: number;
}

export interface TaskPage {
  readonly tasks: readonly TaskRecord[];
  /** How many match on all pages. */
  readonly total: number;
}

/** What reading a task costs, in rows walked. */
const RECORD_COST_ROWS = 3;

/** Reads a page. The filter's times of creation and completion are not looked at. */
export function readPage(store: Store, accountId: string, { filter, order, offset, limit }: PageRequest): TaskPage {
  const total = countMatches(store, accountId, filter);
  const count = Math.min(limit, total - offset);
  if (count <= 0) return { tasks: [], total };
  if (isWorthGathering(store, accountId, filter, order, offset + count, total)) {
    return { tasks: gather(store, accountId, filter, order).slice(offset, offset + count), total };
  }
  // The nearer end is the shorter way.
  const behind = total - offset - count;
  const isBackward = behind < offset;
  const segments = segmentsOf(filter, order);
  if (isBackward) segments.reverse();
  const ids = take(
    walk(store, accountId, filter, segments, isBackward ? !order.descending : order.descending),
    isBackward ? behind : offset,
    count,
  );
  if (isBackward) ids.reverse();
  return { tasks: read(store, accountId, ids), total };
}

/** True when sorting every task of the due dates costs less than walking another order past those outside of them. */
function isWorthGathering(
  store: Store,
  accountId: string,
  filter: TaskFilter,
  order: TaskOrder,
  wanted: number,
  matches: number,
): boolean {
  const { due, ...rest } = filter;
  if (due === undefined || order.sortBy === 'due_date') return false;
  const rows = countMatches(store, accountId, rest);
  const walked = Math.min(rows, (Math.min(wanted, matches - wanted) + 1) * (rows / matches));
  return matches * RECORD_COST_ROWS < walked;
}

/** Every match of a filter by due dates, sorted in memory. */
function gather(store: Store, accountId: string, filter: TaskFilter, order: TaskOrder): TaskRecord[] {
  const segments = segmentsOf(filter, { sortBy: 'due_date', descending: false });
  const found = read(store, accountId, [...walk(store, accountId, filter, segments, false)]);
  return found.sort((a, b) => compareTasks(a, b, order));
}

function take(ids: Iterable<number>, skip: number, count: number): number[] {
  const taken: number[] = [];
  let passed = 0;
  for (const id of ids) {
    passed += 1;
    if (passed > skip) taken.push(id);
    if (taken.length === count) break;
  }
  return taken;
}

function read(store: Store, accountId: string, ids: readonly number[]): TaskRecord[] {
  return ids.flatMap((id) => liveTask(store, accountId, id) ?? []);
}
