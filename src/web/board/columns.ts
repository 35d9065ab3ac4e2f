/** Selects and sorts the tasks of each column: by default manually placed ones first, then by due date; done tasks by newest. */
import { limits } from '../../limits/service.ts';
import type { KanbanStatus, TaskRecord } from '../../tasks/declared.ts';
import type { Tasks } from '../../tasks/service.ts';
import { dayNumber } from '../../time/calendar.ts';
import type { Zone } from '../../time/zone.ts';
import { type BoardFilter, boardPath, taskFilter } from './filter.ts';
import { columnOrder } from './groups.ts';

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
  /** The link to further tasks; undefined: all are shown, or the search stopped at its maximum (`isCut`). */
  readonly more: { readonly label: string; readonly path: string } | undefined;
  readonly isCut: boolean;
}

export interface ColumnsRequest {
  readonly accountId: string;
  readonly filter: BoardFilter;
  /** YYYY-MM-DD. */
  readonly today: string;
  readonly zone: Zone;
  /** One column, page by page from 1; undefined: the first page of all columns. */
  readonly only: { readonly column: ColumnKind; readonly page: number } | undefined;
  /** The task that was added or moved just now: shown in its column whatever the order and the filter. */
  readonly lit: TaskRecord | undefined;
}

export async function readColumns(tasks: Tasks, request: ColumnsRequest): Promise<ColumnTasks[]> {
  const columns = request.only === undefined ? COLUMNS : [request.only.column];
  const found: ColumnTasks[] = [];
  for (const column of columns) found.push(withLit(await readColumn(tasks, column, request), request.lit));
  return found;
}

/** Puts the task that was added or moved just now first, unless the column already shows it where it cannot be missed. */
function withLit(found: ColumnTasks, lit: TaskRecord | undefined): ColumnTasks {
  const { column, tasks } = found;
  if (lit === undefined || lit.kanban_status !== column.status) return found;
  const open = column.status === 'done' ? tasks.slice(0, limits.boardDoneOpen) : tasks;
  if (open.some(({ id }) => id === lit.id)) return found;
  return { ...found, tasks: [lit, ...tasks.filter(({ id }) => id !== lit.id)] };
}

/** The ids of a column as shown without a filter. */
export function wholeColumn(tasks: Tasks, accountId: string, status: KanbanStatus): number[] {
  const placed = tasks.places.of(accountId, status).map(({ id }) => id);
  const known = new Set(placed);
  const request = {
    filter: { kanbanStatus: status },
    order: columnOrder(status, undefined),
    offset: 0,
    limit: limits.boardPlacedMax,
  };
  const rest = tasks.list(accountId, request).tasks.map(({ id }) => id);
  return [...placed, ...rest.filter((id) => !known.has(id))];
}

async function readColumn(tasks: Tasks, column: ColumnKind, request: ColumnsRequest): Promise<ColumnTasks> {
  const { filter, only } = request;
  const isLong = only !== undefined || filter.unfolded.includes(column.status);
  const rows = isLong ? limits.boardColumnRows : limits.boardFirstRows;
  if (filter.text !== undefined) return await searchColumn(tasks, column, request, rows);
  return only === undefined
    ? firstOf(tasks, column, request, rows)
    : pageOf(tasks, column, request, { page: only.page, rows });
}

async function searchColumn(
  tasks: Tasks,
  column: ColumnKind,
  { accountId, filter, today, zone }: ColumnsRequest,
  limit: number,
): Promise<ColumnTasks> {
  const wanted = { ...taskFilter(filter, today), kanbanStatus: column.status };
  const search = { filter: wanted, order: columnOrder(column.status, filter.sort), limit, zone, text: filter.text };
  const { tasks: shown, hasMore } = await tasks.searchShown(accountId, search);
  const found = shown.map(({ json }): TaskRecord => ({ ...(JSON.parse(json) as TaskRecord), deleted_at: null }));
  const isLong = limit === limits.boardColumnRows;
  const more = hasMore && !isLong ? { label: 'Show more', path: unfoldedPath(filter, column, found) } : undefined;
  return { column, tasks: found, total: `${found.length}${hasMore ? '+' : ''}`, more, isCut: hasMore && isLong };
}

/** The first tasks of a column, on the whole board. */
function firstOf(tasks: Tasks, column: ColumnKind, request: ColumnsRequest, rows: number): ColumnTasks {
  const { accountId, filter, today } = request;
  const placed = placedOf(tasks, column, request);
  const known = new Set(placed.map(({ id }) => id));
  const found = tasks.list(accountId, {
    filter: { ...taskFilter(filter, today), kanbanStatus: column.status },
    order: columnOrder(column.status, filter.sort),
    offset: 0,
    limit: rows + Math.min(rows, placed.length),
  });
  const { total } = found;
  const shown = [...placed, ...found.tasks.filter(({ id }) => !known.has(id))].slice(0, rows);
  const further = Math.min(total, limits.boardColumnRows) - rows;
  const more =
    total <= rows
      ? undefined
      : further > 0
        ? { label: `Show ${further} more`, path: unfoldedPath(filter, column, shown) }
        : { label: `Show all ${total}`, path: boardPath(filter, { column: column.status }) };
  return { column, tasks: shown, total: String(total), more, isCut: false };
}

/** A page of one column: the tasks placed by hand, page by page, the last of them followed by the others. */
function pageOf(
  tasks: Tasks,
  column: ColumnKind,
  request: ColumnsRequest,
  { page, rows }: { readonly page: number; readonly rows: number },
): ColumnTasks {
  const { accountId, filter, today } = request;
  const placed = placedOf(tasks, column, request);
  const known = new Set(placed.map(({ id }) => id));
  // Pages before the first one with other tasks.
  const before = Math.max(0, Math.ceil(placed.length / rows) - 1);
  let turn = page - 1 - before;
  const othersAt = (offset: number) => {
    const wanted = { ...taskFilter(filter, today), kanbanStatus: column.status };
    const { tasks: found, total } = tasks.list(accountId, {
      filter: wanted,
      order: columnOrder(column.status, filter.sort),
      offset,
      limit: rows,
    });
    return { others: found.filter(({ id }) => !known.has(id)), total };
  };
  let { others, total } = othersAt(Math.max(0, turn) * rows);
  // Goes on where all tasks of a page are shown on an earlier one; at most `boardPlacedMax` tasks are.
  while (turn >= 0 && others.length === 0 && total > (turn + 1) * rows) {
    turn += 1;
    ({ others, total } = othersAt(turn * rows));
  }
  const hasMore = turn < 0 || total > (turn + 1) * rows;
  const path = boardPath(filter, { column: column.status, page: String(turn + before + 2) });
  return {
    column,
    tasks: [...placed.slice((page - 1) * rows, page * rows), ...(turn < 0 ? [] : others)],
    total: String(total),
    more: hasMore ? { label: 'Next page', path } : undefined,
    isCut: false,
  };
}

/** The tasks of a column that were placed by hand and match the filter, in order. */
function placedOf(tasks: Tasks, { status }: ColumnKind, { accountId, filter, today }: ColumnsRequest): TaskRecord[] {
  if (status === 'done' || filter.sort !== undefined) return [];
  const { categoryId, isImportant, due } = taskFilter(filter, today);
  return tasks.places.of(accountId, status).filter(({ category_id, is_important, due_date: date }) => {
    const day = date === null ? undefined : dayNumber(date);
    return (
      (categoryId === undefined || category_id === categoryId) &&
      (isImportant === undefined || is_important) &&
      (due === undefined || (day !== undefined && day >= due.low && day <= due.high))
    );
  });
}

/** The path of the board with more of a column, at the last task shown now. */
function unfoldedPath(filter: BoardFilter, { status }: ColumnKind, shown: readonly TaskRecord[]): string {
  return `${boardPath({ ...filter, unfolded: [...filter.unfolded, status] })}#task-${shown.at(-1)?.id}`;
}
