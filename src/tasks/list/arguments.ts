/** Owns the arguments of the list tool, and how they become a search. */

import { z } from 'zod';
import type { FieldErrors } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { isCalendarDate } from '../../time/calendar.ts';
import { daySpan, defined, readOrder } from '../input.ts';
import { KANBAN_STATUSES } from '../records.ts';
import { refuseErrors } from '../rules.ts';
import { SORT_FIELDS, type TaskFilter } from './query.ts';
import { openZone, type TaskSearch } from './search.ts';

const day = (what: string) => z.string().length(10).optional().describe(`${what}, YYYY-MM-DD`);

export const listArguments = z.strictObject({
  due_today: z.boolean().optional().describe('True: only tasks that are due today'),
  overdue: z.boolean().optional().describe('True: only open tasks that were due before today'),
  status: z.enum(KANBAN_STATUSES).optional().describe('Only this kanban_status'),
  completed: z.boolean().optional().describe('Only completed tasks, or only open ones'),
  is_important: z.boolean().optional().describe('Only important tasks, or only others'),
  category_id: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional().describe('Only tasks of this category'),
  search: z
    .string()
    .min(1)
    .max(limits.taskSearchCharsMax)
    .optional()
    .describe('Only tasks whose content has this text in it, in upper or lower case'),
  due_from: day('First day due'),
  due_to: day('Last day due'),
  created_from: day('First day of creation'),
  created_to: day('Last day of creation'),
  completed_from: day('First day of completion'),
  completed_to: day('Last day of completion'),
  sort_by: z.enum(SORT_FIELDS).optional().describe('Default created_at'),
  sort_order: z.enum(['asc', 'desc']).optional().describe('Default asc for due_date and content, else desc'),
  limit: z
    .int()
    .min(1)
    .max(limits.taskListMax)
    .optional()
    .describe(`Most tasks to give; default ${limits.taskListDefault}`),
  timezone: z
    .string()
    .min(1)
    .max(limits.timeZoneCharsMax)
    .optional()
    .describe('IANA time zone that days are counted in, e.g. Europe/Berlin; default UTC'),
});

type ListArguments = z.output<typeof listArguments>;

const DATES = ['due_from', 'due_to', 'created_from', 'created_to', 'completed_from', 'completed_to'] as const;

/** The search that the arguments ask for, as of `nowMs`. Refuses all wrong dates at once, and an unknown time zone. */
export function listQuery(args: ListArguments, nowMs: number): TaskSearch {
  const zone = openZone(args.timezone ?? 'UTC');
  checkDates(args);
  const today = zone.dayOf(nowMs);
  const { overdue = false } = args;
  const from = latest(args.due_from, args.due_today === true ? today : undefined);
  const to = earliest(args.due_to, args.due_today === true ? today : undefined, overdue ? dayBefore(today) : undefined);
  const filter: TaskFilter = defined({
    categoryId: args.category_id,
    completed: args.completed ?? (overdue ? false : undefined),
    isImportant: args.is_important,
    kanbanStatus: args.status,
    due: daySpan(from, to, 'due_to', {}),
  });
  const contradicts = overdue && args.completed === true;
  return {
    // A completed task is never overdue: no bucket is done and open.
    filter: contradicts ? { ...filter, kanbanStatus: 'todo' } : filter,
    order: readOrder(args.sort_by, args.sort_order),
    limit: args.limit ?? limits.taskListDefault,
    text: args.search,
    createdOn: rangeOf(args.created_from, args.created_to),
    completedOn: rangeOf(args.completed_from, args.completed_to),
    zone,
  };
}

function checkDates(args: ListArguments): void {
  const errors: Record<string, FieldErrors[string]> = {};
  for (const field of DATES) {
    const date = args[field];
    if (date !== undefined && !isCalendarDate(date)) errors[field] = [`${field} must be a calendar date as YYYY-MM-DD`];
  }
  refuseErrors(errors);
  for (const name of ['due', 'created', 'completed'] as const) {
    daySpan(args[`${name}_from`], args[`${name}_to`], `${name}_to`, errors);
  }
  refuseErrors(errors);
}

function rangeOf(from: string | undefined, to: string | undefined): TaskSearch['createdOn'] {
  return from === undefined && to === undefined ? undefined : { from, to };
}

function latest(...dates: readonly (string | undefined)[]): string | undefined {
  return dates
    .filter((date) => date !== undefined)
    .sort()
    .at(-1);
}

function earliest(...dates: readonly (string | undefined)[]): string | undefined {
  return dates
    .filter((date) => date !== undefined)
    .sort()
    .at(0);
}

function dayBefore(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
}
