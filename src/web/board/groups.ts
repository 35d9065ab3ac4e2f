/** Sorts the columns of the board, and divides the tasks of a column into groups. Pure. */
import type { Category } from '../../tasks/categories.ts';
import type { KanbanStatus, TaskRecord } from '../../tasks/declared.ts';
import type { TaskOrder } from '../../tasks/list/query.ts';
import { dayNumber } from '../../time/calendar.ts';

/** The orders that a reader can choose; without one, columns are ordered by hand. */
export const SORTS = [
  { value: 'due', label: 'By due date', order: { sortBy: 'due_date', descending: false } },
  { value: 'important', label: 'Important first', order: { sortBy: 'is_important', descending: true } },
  { value: 'newest', label: 'Newest first', order: { sortBy: 'created_at', descending: true } },
  { value: 'changed', label: 'Last changed first', order: { sortBy: 'updated_at', descending: true } },
  { value: 'name', label: 'A to Z', order: { sortBy: 'content', descending: false } },
] as const satisfies readonly { value: string; label: string; order: TaskOrder }[];

export type BoardSort = (typeof SORTS)[number]['value'];

export const GROUPINGS = [
  { value: 'category', label: 'By category' },
  { value: 'due', label: 'By due date' },
  { value: 'important', label: 'By importance' },
] as const;

export type Grouping = (typeof GROUPINGS)[number]['value'];

/** The order of a column. Without a chosen one, done tasks are newest first, and the others by due date. */
export function columnOrder(status: KanbanStatus, sort: BoardSort | undefined): TaskOrder {
  const chosen = SORTS.find(({ value }) => value === sort);
  if (chosen !== undefined) return chosen.order;
  return status === 'done' ? { sortBy: 'completed_at', descending: true } : { sortBy: 'due_date', descending: false };
}

export interface TaskGroup {
  /** Undefined: the tasks are not grouped. */
  readonly name: string | undefined;
  readonly tasks: readonly TaskRecord[];
}

interface GroupsRequest {
  readonly categories: readonly Pick<Category, 'id' | 'name'>[];
  /** YYYY-MM-DD. */
  readonly today: string;
}

/** Divides tasks, in their order, into groups that have some. */
export function groupTasks(
  tasks: readonly TaskRecord[],
  by: Grouping | undefined,
  { categories, today }: GroupsRequest,
): readonly TaskGroup[] {
  if (by === undefined) return [{ name: undefined, tasks }];
  const [names, nameOf] = GROUPERS[by]({ categories, today });
  return names
    .map((name) => ({ name, tasks: tasks.filter((task) => nameOf(task) === name) }))
    .filter((group) => group.tasks.length > 0);
}

type Grouper = (request: GroupsRequest) => readonly [names: readonly string[], nameOf: (task: TaskRecord) => string];

const DUE_NAMES = { overdue: 'Overdue', today: 'Today', week: 'Within 7 days', later: 'Later', none: 'No due date' };
const WEEK_DAYS = 6;

const GROUPERS: Readonly<Record<Grouping, Grouper>> = {
  category: ({ categories }) => {
    const none = 'No category';
    const nameOf = (task: TaskRecord) => categories.find(({ id }) => id === task.category_id)?.name ?? none;
    return [[...new Set([...categories.map(({ name }) => name), none])], nameOf];
  },
  due: ({ today }) => [
    Object.values(DUE_NAMES),
    ({ due_date: date }) => {
      if (date === null) return DUE_NAMES.none;
      const days = dayNumber(date) - dayNumber(today);
      if (days < 0) return DUE_NAMES.overdue;
      if (days === 0) return DUE_NAMES.today;
      return days <= WEEK_DAYS ? DUE_NAMES.week : DUE_NAMES.later;
    },
  ],
  important: () => [['Important', 'Others'], ({ is_important: isImportant }) => (isImportant ? 'Important' : 'Others')],
};
