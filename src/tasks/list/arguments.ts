/** Declares the arguments of the list tool and of the REST list, and converts those of the tool to a search. */

import { z } from 'zod';
import { type FieldErrors, refuseFields } from '../../common/fault.ts';
import { categoryId, day, timeZone } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import { DAY_MS, dayNumber } from '../../time/calendar.ts';
import { openZone, type Zone } from '../../time/zone.ts';
import { KANBAN_STATUSES } from '../declared.ts';
import { defaultOrder, SORT_FIELDS, type SortBy, type TaskFilter, type TaskOrder } from './query.ts';
import type { TaskSearch } from './search.ts';

/** Filters and sort options of every list. */
const listFields = {
  category_id: categoryId.optional().describe('See list_categories'),
  completed: z.boolean().optional().describe('False: only open tasks'),
  is_important: z.boolean().optional().describe('False: only others'),
  sort_by: z.enum(SORT_FIELDS).optional().describe('Default created_at'),
  sort_order: z.enum(['asc', 'desc']).optional().describe('Default: asc for due_date and content, else desc'),
};

/** The query of the REST list. */
export const taskPageQuery = z.strictObject({
  ...listFields,
  kanban_status: z.enum(KANBAN_STATUSES).optional().describe('Only this column of the board'),
  due_date_from: day.optional().describe('First day due, YYYY-MM-DD'),
  due_date_to: day.optional().describe('Last day due, YYYY-MM-DD'),
  page: z.int().min(1).max(limits.taskPageNumberMax).default(1).describe('Which page, from 1'),
  per_page: z.int().min(1).max(limits.taskPageMax).default(limits.taskPageDefault).describe('Tasks on a page'),
});

/** What is open has several. */
const ONE_OF_STATUSES = `must be one of ${KANBAN_STATUSES.join(', ')}; for all but done, send completed: false`;

const someDay = day.optional();

export const listArguments = z.strictObject({
  due_today: z.boolean().optional(),
  overdue: z.boolean().optional().describe('Open tasks due before today; with due_today: those due today too'),
  status: z.enum(KANBAN_STATUSES, { error: ONE_OF_STATUSES }).optional(),
  ...listFields,
  category: z.string().trim().min(1).max(limits.categoryNameCharsMax).optional().describe('Its name'),
  search: z.string().min(1).max(limits.taskSearchCharsMax).optional().describe('Words or parts of the content'),
  due_from: someDay,
  due_to: someDay,
  created_from: someDay,
  created_to: someDay,
  completed_from: someDay,
  completed_to: someDay,
  limit: z.int().min(1).max(limits.taskListMax).optional().describe(`Default ${limits.taskListDefault}`),
  offset: z.int().min(0).max(limits.taskScanMax).optional().describe('Skip the first of the list'),
  timezone: timeZone.optional().describe('IANA name'),
});

type ListArguments = z.output<typeof listArguments>;

/**
 * Returns the search for the arguments, as of `nowMs`, in `ownZone` unless they contain a zone. Throws Refusal listing
 * all spans that end before they begin.
 */
export function taskSearchOf(args: ListArguments, nowMs: number, ownZone: () => Zone): TaskSearch {
  const zone = args.timezone === undefined ? ownZone() : openZone(args.timezone);
  refuseFields({
    ...spanErrors('due', args.due_from, args.due_to),
    ...spanErrors('created', args.created_from, args.created_to),
    ...spanErrors('completed', args.completed_from, args.completed_to),
  });
  const today = zone.dayOf(nowMs);
  const { overdue = false, due_today: dueToday = false } = args;
  // Both together are a union: what is open and due today or before.
  const from = inOrder(args.due_from, dueToday && !overdue ? today : undefined).at(-1);
  const last = dueToday ? today : overdue ? dayBefore(today) : undefined;
  const to = inOrder(args.due_to, last).at(0);
  const filter: TaskFilter = defined({
    categoryId: args.category_id,
    completed: args.completed ?? (overdue ? false : undefined),
    isImportant: args.is_important,
    kanbanStatus: args.status,
    due: daySpan(from, to),
  });
  const contradicts = overdue && args.completed === true;
  return {
    // A completed task is never overdue: no bucket is both done and open, so nothing matches.
    filter: contradicts ? { ...filter, kanbanStatus: 'todo' } : filter,
    order: readOrder(args.sort_by, args.sort_order),
    limit: args.limit ?? limits.taskListDefault,
    offset: args.offset,
    text: args.search,
    createdOn: rangeOf(args.created_from, args.created_to),
    completedOn: rangeOf(args.completed_from, args.completed_to),
    zone,
  };
}

function rangeOf(from: string | undefined, to: string | undefined): TaskSearch['createdOn'] {
  return from === undefined && to === undefined ? undefined : { from, to };
}

/** Returns the given dates, the earliest first. */
function inOrder(...dates: readonly (string | undefined)[]): string[] {
  return dates.filter((date) => date !== undefined).sort();
}

function dayBefore(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}

/** Returns the requested order, with defaults for missing parts. */
export function readOrder(sortBy: SortBy | undefined, sortOrder: 'asc' | 'desc' | undefined): TaskOrder {
  const order = defaultOrder(sortBy);
  return sortOrder === undefined ? order : { ...order, descending: sortOrder === 'desc' };
}

/** Returns the errors of the days from `<name>_from` to `<name>_to`. */
export function spanErrors(name: string, from: string | undefined, to: string | undefined): FieldErrors {
  if (from === undefined || to === undefined || from <= to) return {};
  return { [`${name}_to`]: [`${name}_to must not be before ${name}_from`] };
}

/** Returns the days between two dates, either open; undefined: neither was given. */
export function daySpan(from: string | undefined, to: string | undefined): TaskFilter['due'] {
  if (from === undefined && to === undefined) return undefined;
  return { low: dayNumber(from ?? '0000-01-01'), high: dayNumber(to ?? '9999-12-31') };
}

/** Drops undefined members. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
