/** Reads the filter of the board from an address or a form, and decides which view an action returns to. Pure. */
import { readId } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import { KANBAN_STATUSES, type KanbanStatus } from '../../tasks/declared.ts';
import type { TaskFilter } from '../../tasks/list/query.ts';
import { dayNumber } from '../../time/calendar.ts';
import { searchWords } from '../fields.tsx';
import { ownPath } from '../next-path.ts';
import { type BoardSort, GROUPINGS, type Grouping, SORTS } from './groups.ts';

export const DUE_FILTERS = [
  { value: 'overdue', label: 'Overdue' },
  { value: 'today', label: 'Due today' },
  { value: 'week', label: 'Due within 7 days' },
] as const;

type DueFilter = (typeof DUE_FILTERS)[number]['value'];

export interface BoardFilter {
  /** Searched anywhere in a task. */
  readonly text: string | undefined;
  readonly category: number | undefined;
  readonly due: DueFilter | undefined;
  readonly isImportant: boolean;
  /** Undefined: ordered by hand. */
  readonly sort: BoardSort | undefined;
  readonly group: Grouping | undefined;
  /** The column shown on a phone. */
  readonly tab: KanbanStatus;
  /** Columns shown with more than their first tasks. */
  readonly unfolded: readonly KanbanStatus[];
}

const DEFAULT_TAB = 'todo';
const UNFOLDED = 'more';

export function readFilter(query: URLSearchParams, isCategory: (id: number) => boolean): BoardFilter {
  const category = readTaskId(query.get('category'));
  const text = searchWords(query, limits.taskSearchCharsMax);
  return {
    text: text === '' ? undefined : text,
    category: category !== undefined && isCategory(category) ? category : undefined,
    due: DUE_FILTERS.find(({ value }) => value === query.get('due'))?.value,
    isImportant: query.get('important') === 'true',
    sort: SORTS.find(({ value }) => value === query.get('sort'))?.value,
    group: GROUPINGS.find(({ value }) => value === query.get('group'))?.value,
    tab: KANBAN_STATUSES.find((status) => status === query.get('tab')) ?? DEFAULT_TAB,
    unfolded: KANBAN_STATUSES.filter((status) => query.getAll(UNFOLDED).includes(status)),
  };
}

/** True when the filter excludes any task. */
export function isNarrowed({ text, category, due, isImportant }: BoardFilter): boolean {
  return text !== undefined || category !== undefined || due !== undefined || isImportant;
}

/** The path of the board with a filter and additional query parameters. */
export function boardPath(filter: BoardFilter, more: Readonly<Record<string, string>> = {}): string {
  const { text, category, due, isImportant, sort, group, tab, unfolded } = filter;
  const query = new URLSearchParams({
    ...(text === undefined ? {} : { q: text }),
    ...(category === undefined ? {} : { category: String(category) }),
    ...(due === undefined ? {} : { due }),
    ...(isImportant ? { important: 'true' } : {}),
    ...(sort === undefined ? {} : { sort }),
    ...(group === undefined ? {} : { group }),
    ...(tab === DEFAULT_TAB ? {} : { tab }),
    ...more,
  });
  for (const status of unfolded) query.append(UNFOLDED, status);
  return query.size === 0 ? '/tasks' : `/tasks?${query}`;
}

/** The view named by a form, without a fragment; the whole board when it names no view with such forms. */
export function backOf(form: URLSearchParams): string {
  const path = ownPath(form.get('back'));
  if (path === '/' && form.has('back')) return form.get('back') === '/' ? '/' : '/tasks';
  return path === '/tasks' || path.startsWith('/tasks?') || path === '/tasks/trash' ? path : '/tasks';
}

/** A path of the board that shows and lights a task, whatever the order and the filter. The trash shows all of its tasks. */
export function litPath(path: string, why: 'added' | 'moved', id: number): string {
  if (path === '/tasks/trash') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${why}=${id}`;
}

/** Converts the filter to the one of task lists. `today`: YYYY-MM-DD. */
export function taskFilter({ category, due, isImportant }: BoardFilter, today: string): TaskFilter {
  const day = dayNumber(today);
  const spans = {
    overdue: { low: Number.NEGATIVE_INFINITY, high: day - 1 },
    today: { low: day, high: day },
    week: { low: day, high: day + 6 },
  };
  return {
    ...(category === undefined ? {} : { categoryId: category }),
    ...(isImportant ? { isImportant } : {}),
    ...(due === undefined ? {} : { due: spans[due] }),
  };
}

export function readTaskId(text: string | null | undefined): number | undefined {
  return readId(text ?? undefined);
}
