/** Selects and sorts the tasks of each column: manually placed ones first, then by due date; done tasks by newest. */
import { limits } from '../../limits/service.ts';
import type { KanbanStatus, TaskRecord } from '../../tasks/records.ts';
import type { Tasks } from '../../tasks/service.ts';
import type { Zone } from '../../time/zone.ts';
import { type BoardFilter, boardPath, taskFilter } from './filter.ts';

export const COLUMNS = [
  { status: 'backlog', name: 'Backlog', empty: 'Ideas for later.' },
  { status: 'todo', name: 'To do', empty: 'What comes next.' },
  { status: 'in_progress', name: 'In progress', empty: 'Move a task here when you start it.' },
  { status: 'done', name: 'Done', empty: 'Finished tasks.' },
] as const satisfies readonly { status: KanbanStatus; name: string; empty: string }[];

export type ColumnKind = (typeof COLUMNS)[number];

/** The column of a status named by a form or an address. */
export function columnNamed(status: string | null): ColumnKind | undefined {
  return COLUMNS.find((column) => column.status === status);
}

export interface ColumnTasks {
  readonly column: ColumnKind;
  readonly tasks: readonly TaskRecord[];
  /** Number of tasks, followed by a plus if the search stopped at its maximum. */
  readonly total: string;
  /** Path of the rest of the column; undefined: all tasks are shown. */
  readonly more: string | undefined;
}

export interface ColumnsRequest {
  readonly accountId: string;
  readonly filter: BoardFilter;
  /** YYYY-MM-DD. */
  readonly today: string;
  readonly zone: Zone;
  /** One column, page by page from 1; undefined: the first page of all columns. */
  readonly only: { readonly column: ColumnKind; readonly page: number } | undefined;
}

export async function readColumns(tasks: Tasks, request: ColumnsRequest): Promise<ColumnTasks[]> {
  const columns = request.only === undefined ? COLUMNS : [request.only.column];
  const found: ColumnTasks[] = [];
  for (const column of columns) found.push(await readColumn(tasks, column, request));
  return found;
}

/** The ids of a column as shown without a filter. */
export function wholeColumn(tasks: Tasks, accountId: string, status: KanbanStatus): number[] {
  const placed = tasks.places.of(accountId, status).map(({ id }) => id);
  const known = new Set(placed);
  const request = { filter: { kanbanStatus: status }, order: orderOf(status), offset: 0, limit: limits.boardPlacedMax };
  const rest = tasks.list(accountId, request).tasks.map(({ id }) => id);
  return [...placed, ...rest.filter((id) => !known.has(id))];
}

async function readColumn(tasks: Tasks, column: ColumnKind, request: ColumnsRequest): Promise<ColumnTasks> {
  const { accountId, filter, today, zone, only } = request;
  const wanted = { ...taskFilter(filter, today), kanbanStatus: column.status };
  const order = orderOf(column.status);
  const limit = limits.boardColumnRows;
  const page = only?.page ?? 1;
  if (filter.text !== undefined) {
    const search = { filter: wanted, order, limit, zone, text: filter.text };
    const { tasks: shown, hasMore } = await tasks.searchShown(accountId, search);
    const found = shown.map(({ json }): TaskRecord => ({ ...(JSON.parse(json) as TaskRecord), deleted_at: null }));
    return { column, tasks: found, total: `${found.length}${hasMore ? '+' : ''}`, more: undefined };
  }
  const found = tasks.list(accountId, { filter: wanted, order, offset: (page - 1) * limit, limit });
  const path = boardPath(filter, { column: column.status, ...(only === undefined ? {} : { page: String(page + 1) }) });
  return {
    column,
    tasks:
      page === 1 ? withPlaced(tasks, column, found.tasks, request) : withoutPlaced(tasks, column, found.tasks, request),
    total: String(found.total),
    more: found.total > page * limit ? path : undefined,
  };
}

function withPlaced(
  tasks: Tasks,
  { status }: ColumnKind,
  found: readonly TaskRecord[],
  { accountId, filter, today }: ColumnsRequest,
): TaskRecord[] {
  if (status === 'done') return [...found];
  const { categoryId, isImportant, due } = taskFilter(filter, today);
  const placed = tasks.places.of(accountId, status).filter(
    (task) =>
      (categoryId === undefined || task.category_id === categoryId) &&
      (isImportant === undefined || task.is_important) &&
      // A filter by due date keeps a placed task only if it was found: its place alone is not a match.
      (due === undefined || found.some(({ id }) => id === task.id)),
  );
  const known = new Set(placed.map(({ id }) => id));
  return [...placed, ...found.filter(({ id }) => !known.has(id))];
}

/** Removes manually placed tasks: they were on the first page. */
function withoutPlaced(
  tasks: Tasks,
  { status }: ColumnKind,
  found: readonly TaskRecord[],
  { accountId }: ColumnsRequest,
): TaskRecord[] {
  const placed = new Set(tasks.places.of(accountId, status).map(({ id }) => id));
  return found.filter(({ id }) => !placed.has(id));
}

function orderOf(status: KanbanStatus) {
  return status === 'done'
    ? ({ sortBy: 'completed_at', descending: true } as const)
    : ({ sortBy: 'due_date', descending: false } as const);
}
