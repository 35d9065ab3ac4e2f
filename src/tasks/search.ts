/**
 * Owns the list that an agent asks for: besides the filters, a text and local days, which no index answers exactly.
 * Candidates come from the index in order and are tested one by one, a bounded number of them. Only reads.
 */

import { dayNumber } from '../calendar.ts';
import { invalidField } from '../fault.ts';
import { limits } from '../limits.ts';
import type { Store } from '../store/store.ts';
import { compareTasks, liveTask, type Span, segmentsOf, type TaskFilter, type TaskOrder, walk } from './query.ts';
import type { TaskRecord } from './records.ts';

/** The first and last day, both included, either open. */
interface DayRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface TaskSearch {
  readonly filter: TaskFilter;
  readonly order: TaskOrder;
  readonly limit: number;
  /** Found anywhere in the content, without regard to case. */
  readonly text?: string | undefined;
  /** Days in `zone`. */
  readonly createdOn?: DayRange | undefined;
  readonly completedOn?: DayRange | undefined;
  readonly zone: Zone;
}

export interface TaskFinds {
  readonly tasks: readonly TaskRecord[];
  /** There are more than the limit, or more tasks than one call looks at. */
  readonly hasMore: boolean;
  /** False when the search stopped at the most tasks that one call looks at. */
  readonly complete: boolean;
}

/** The calendar day of a moment, in one time zone. */
export type Zone = (ms: number) => string;

const DAY_MS = 86_400_000;
/** No zone is further from UTC than this. */
const ZONE_DAYS_MAX = 1;

/** A zone by its IANA name. Refuses a name that is none, on field `timezone`. */
export function openZone(name: string): Zone {
  // The default, and by far the most frequent: a formatter costs more than the rest of a short list.
  if (name === 'UTC') return (ms) => new Date(ms).toISOString().slice(0, 10);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-u-ca-iso8601', {
      timeZone: name,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
  } catch {
    throw invalidField('timezone', 'timezone must be an IANA name such as Europe/Berlin or Asia/Seoul');
  }
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
  };
}

/** Finds the first tasks that match, in order. */
export function searchTasks(store: Store, accountId: string, search: TaskSearch): TaskFinds {
  const filter: TaskFilter = {
    ...search.filter,
    ...spanOf('created', search.createdOn),
    ...spanOf('completedAt', search.completedOn),
  };
  const isMatch = matcherOf(search, filter);
  const tasks: TaskRecord[] = [];
  let looked = 0;
  for (const task of candidates(store, accountId, filter, search.order)) {
    looked += 1;
    if (looked > limits.taskScanMax) return { tasks, hasMore: true, complete: false };
    if (!isMatch(task)) continue;
    if (tasks.length === search.limit) return { tasks, hasMore: true, complete: true };
    tasks.push(task);
  }
  return { tasks, hasMore: false, complete: true };
}

/** Tasks of the filter's spaces in order: out of the smallest range, if it is short, else along the order itself. */
function* candidates(store: Store, accountId: string, filter: TaskFilter, order: TaskOrder): Generator<TaskRecord> {
  const gathered = gatherRange(store, accountId, filter, order);
  if (gathered !== undefined) {
    yield* gathered;
    return;
  }
  for (const id of walk(store, accountId, filter, segmentsOf(filter, order), order.descending)) {
    const task = liveTask(store, accountId, id);
    if (task !== undefined) yield task;
  }
}

/** All tasks of a range other than the order's own, sorted; undefined when there is none that is short enough. */
function gatherRange(store: Store, accountId: string, filter: TaskFilter, order: TaskOrder): TaskRecord[] | undefined {
  const ranged = [
    { sortBy: 'completed_at', span: filter.completedAt },
    { sortBy: 'created_at', span: filter.created },
    { sortBy: 'due_date', span: filter.due },
  ] as const;
  for (const { sortBy, span } of ranged) {
    if (span === undefined || sortBy === order.sortBy) continue;
    const found: TaskRecord[] = [];
    let rows = 0;
    for (const id of walk(store, accountId, filter, segmentsOf(filter, { sortBy, descending: false }), false)) {
      rows += 1;
      if (rows > limits.taskGatherMax) break;
      const task = liveTask(store, accountId, id);
      if (task !== undefined) found.push(task);
    }
    if (rows <= limits.taskGatherMax) return found.sort((a, b) => compareTasks(a, b, order));
  }
  return undefined;
}

/** Moments that can lie on the days of a range in some zone; the exact days are tested on each task. */
function spanOf<K extends 'created' | 'completedAt'>(name: K, range: DayRange | undefined): { [N in K]?: Span } {
  if (range?.from === undefined && range?.to === undefined) return {};
  const low = (dayNumber(range.from ?? '0000-01-01') - ZONE_DAYS_MAX) * DAY_MS;
  const high = (dayNumber(range.to ?? '9999-12-31') + 1 + ZONE_DAYS_MAX) * DAY_MS;
  return { [name]: { low, high } } as { [N in K]?: Span };
}

function matcherOf({ text, createdOn, completedOn, zone }: TaskSearch, filter: TaskFilter) {
  const wanted = text?.normalize('NFC').toLowerCase();
  const isOn = (at: string | null, range: DayRange | undefined): boolean => {
    if (range === undefined) return true;
    if (at === null) return false;
    const day = zone(Date.parse(at));
    return (range.from === undefined || day >= range.from) && (range.to === undefined || day <= range.to);
  };
  return (task: TaskRecord): boolean =>
    (wanted === undefined || task.content.normalize('NFC').toLowerCase().includes(wanted)) &&
    (filter.created === undefined || isOn(task.created_at, createdOn)) &&
    (filter.completedAt === undefined || isOn(task.completed_at, completedOn));
}
