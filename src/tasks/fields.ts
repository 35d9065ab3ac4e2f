/** Declares the input fields of tasks and categories, shared by tools, REST and pages. */
import { z } from 'zod';
import type { FieldErrors } from '../common/fault.ts';
import { expectedVersion } from '../fields/expected-version.ts';
import { categoryId, day } from '../fields/kinds.ts';
import { limits } from '../limits/service.ts';
import { dayNumber } from '../time/calendar.ts';
import { declaredCategory, declaredTask, KANBAN_STATUSES } from './declared.ts';
import type { TaskFilter, TaskOrder } from './list/query.ts';
import { defaultOrder, SORT_FIELDS, type SortBy } from './list/query.ts';

/** What callers send for a new task. */
export const newTask = declaredTask.newInput;

/** A partial update: an absent field keeps its value. */
export const taskChange = declaredTask.changeInput.extend({ expected_version: expectedVersion });

export type TaskFields = z.output<typeof taskChange>;

export const newCategory = declaredCategory.newInput;

/** A partial update. */
export const categoryChange = declaredCategory.changeInput;

export type CategoryFields = z.output<typeof categoryChange>;

/** Filters and sort options of every list. */
export const listFields = {
  category_id: categoryId.optional().describe('See list_categories'),
  completed: z.boolean().optional().describe('False: only open tasks'),
  is_important: z.boolean().optional().describe('False: only others'),
  sort_by: z.enum(SORT_FIELDS).optional().describe('Default created_at'),
  sort_order: z.enum(['asc', 'desc']).optional().describe('Default: asc for due_date and content, else desc'),
};

/** The query of the REST list. */
export const pageQuery = z.strictObject({
  ...listFields,
  kanban_status: z.enum(KANBAN_STATUSES).optional().describe('Only this column of the board'),
  due_date_from: day.optional().describe('First day due, YYYY-MM-DD'),
  due_date_to: day.optional().describe('Last day due, YYYY-MM-DD'),
  page: z.int().min(1).max(limits.taskPageNumberMax).default(1).describe('Which page, from 1'),
  per_page: z.int().min(1).max(limits.taskPageMax).default(limits.taskPageDefault).describe('Tasks on a page'),
});

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
