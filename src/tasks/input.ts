/** Owns how a caller's document or query becomes fields: every wrong one is told at once, unknown ones with a guess. */

import type { FieldErrors } from '../common/fault.ts';
import {
  boolean,
  type Checked,
  type Checks,
  idOrNull,
  isWellFormed,
  readId,
  readMembers,
} from '../http/request/members.ts';
import { limits } from '../limits/service.ts';
import { dayNumber, isCalendarDate } from '../time/calendar.ts';
import type { SortBy, TaskFilter, TaskOrder } from './list/query.ts';
import { defaultOrder, SORT_FIELDS } from './list/query.ts';
import { KANBAN_STATUSES, type KanbanStatus } from './records.ts';
import { type CategoryFields, disagreement, refuseErrors, type TaskFields } from './rules.ts';

const DATE_FORM = 'a calendar date as YYYY-MM-DD';

const taskChecks: Checks<Required<TaskFields>> = {
  content(value) {
    if (typeof value !== 'string') return 'content must be a string';
    if (value.trim() === '') return 'content must not be empty';
    if (value.length > limits.taskContentCharsMax) {
      return `content must have at most ${limits.taskContentCharsMax} characters`;
    }
    return isWellFormed(value) ? { value } : 'content must be well-formed Unicode';
  },
  due_date: (value) =>
    value === null || (typeof value === 'string' && isCalendarDate(value))
      ? { value }
      : `due_date must be ${DATE_FORM}, or null`,
  is_important: boolean('is_important'),
  completed: boolean('completed'),
  category_id: idOrNull('category_id', 'the id of one of your categories, or null'),
  kanban_status: (value) =>
    isStatus(value) ? { value } : `kanban_status must be one of ${KANBAN_STATUSES.join(', ')}`,
};

const categoryChecks: Checks<Required<CategoryFields>> = {
  name(value) {
    const sentence = `name must have 1 to ${limits.categoryNameCharsMax} printable characters`;
    if (typeof value !== 'string') return sentence;
    const name = value.trim().normalize('NFC');
    const fits = name !== '' && name.length <= limits.categoryNameCharsMax;
    return fits && isWellFormed(name) && !/\p{Cc}/u.test(name) ? { value: name } : sentence;
  },
  color: (value) =>
    value === null
      ? { value }
      : typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)
        ? { value: value.toLowerCase() }
        : 'color must be # and six hex digits, or null',
  position: (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= limits.categoryPositionMax
      ? { value: value as number }
      : `position must be a whole number from 0 to ${limits.categoryPositionMax}`,
};

/** Reads what is written of a task. `creating`: the content must be there. */
export function readTaskFields(document: unknown, creating: boolean): Checked<TaskFields> {
  const { fields, errors } = readMembers<TaskFields>(document, taskChecks);
  if (creating && fields.content === undefined) errors['content'] ??= ['content is required'];
  for (const [field, sentences] of Object.entries(disagreement(fields) ?? {})) errors[field] ??= sentences;
  return { fields, errors };
}

/** Reads what is written of a category. Refuses all wrong members at once. */
export function readCategoryFields(document: unknown, creating: boolean): CategoryFields {
  const { fields, errors } = readMembers<CategoryFields>(document, categoryChecks);
  if (creating && fields.name === undefined) errors['name'] ??= ['name is required'];
  refuseErrors(errors);
  return fields;
}

function isStatus(value: unknown): value is KanbanStatus {
  return KANBAN_STATUSES.some((status) => status === value);
}

interface PageQuery {
  readonly filter: TaskFilter;
  readonly order: TaskOrder;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

/** Reads the query of a list. Refuses all wrong values at once. */
export function readPageQuery(query: URLSearchParams): PageQuery {
  const errors: Record<string, string[]> = {};
  const take = <T>(field: string, read: (text: string) => T | undefined, sentence: string): T | undefined => {
    const text = query.get(field);
    if (text === null) return undefined;
    const value = read(text);
    if (value === undefined) errors[field] = [`${field} must be ${sentence}`];
    return value;
  };
  const flag = (field: string) =>
    take(field, (text) => (text === 'true' ? true : text === 'false' ? false : undefined), 'true or false');
  const date = (field: string) => take(field, (text) => (isCalendarDate(text) ? text : undefined), DATE_FORM);
  const whole = (field: string, most: number) =>
    take(
      field,
      (text) => (/^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= most ? Number(text) : undefined),
      `a whole number from 1 to ${most}`,
    );
  const oneOf = <T extends string>(field: string, names: readonly T[]) =>
    take(field, (text) => names.find((name) => name === text), `one of ${names.join(', ')}`);

  const filter = defined({
    categoryId: take('category_id', readId, 'the id of a category'),
    completed: flag('completed'),
    isImportant: flag('is_important'),
    kanbanStatus: oneOf('kanban_status', KANBAN_STATUSES),
    due: daySpan(date('due_date_from'), date('due_date_to'), 'due_date_to', errors),
  });
  const order = readOrder(oneOf('sort_by', SORT_FIELDS), oneOf('sort_order', ['asc', 'desc'] as const));
  const page = whole('page', limits.taskPageNumberMax) ?? 1;
  const perPage = whole('per_page', limits.taskPageMax) ?? limits.taskPageDefault;
  refuseErrors(errors);
  return { filter, order, page, perPage };
}

/** The order that a caller names, in part or not at all. */
export function readOrder(sortBy: SortBy | undefined, sortOrder: 'asc' | 'desc' | undefined): TaskOrder {
  const order = defaultOrder(sortBy);
  return sortOrder === undefined ? order : { ...order, descending: sortOrder === 'desc' };
}

/** The days from one date to another, either open; undefined: neither was given. */
export function daySpan(
  from: string | undefined,
  to: string | undefined,
  field: string,
  errors: Record<string, FieldErrors[string]>,
): TaskFilter['due'] {
  if (from === undefined && to === undefined) return undefined;
  if (from !== undefined && to !== undefined && from > to)
    errors[field] = [`${field} must not lie before the from date`];
  return { low: dayNumber(from ?? '0000-01-01'), high: dayNumber(to ?? '9999-12-31') };
}

/** Leaves undefined members out. */
export function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
