/** The pages and forms of the task board: which tasks a column shows, and what a form makes of one. */
import type { Reply } from '../../http/reply/reply.ts';
import type { Route, RouteRequest } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { TaskRecord } from '../../tasks/records.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Problem } from '../fields.tsx';
import type { MemberVisit, Pages } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { EditTask, NewTask } from './forms.tsx';
import { type BoardContext, CategoryLinks, COLUMNS, Column, NoTasks } from './view.tsx';

const PATH = '/tasks';

export interface BoardOptions extends Pick<Capabilities, 'tasks' | 'timeZones'> {
  readonly pages: Pages;
  readonly now: () => number;
}

export function boardRoutes(options: BoardOptions): Route[] {
  const { pages, tasks } = options;
  return [
    pages.member(PATH, (visit) => showBoard(options, visit)),
    pages.memberForm(PATH, (visit, form) => create(options, visit, form)),
    pages.member(`${PATH}/:id`, (visit) => showTask(options, visit, taskOf(options, visit))),
    pages.memberForm(`${PATH}/:id`, (visit, form) => save(options, visit, form)),
    pages.memberForm(`${PATH}/:id/move`, async (visit, form) => {
      const task = await tasks.patch(visit.accountId, idOf(visit.request), { kanban_status: form.get('status') });
      return pages.go(visit, boardPath(readId(form.get('category')), task.id));
    }),
    pages.memberForm(`${PATH}/:id/delete`, async (visit) => {
      const { id } = taskOf(options, visit);
      await tasks.remove(visit.accountId, id);
      return pages.go(visit, PATH, {
        text: `The task is in the trash, and stays there for ${limits.binDays} days.`,
        undo: { label: 'Bring it back', action: `${PATH}/${id}/restore` },
      });
    }),
    pages.memberForm(`${PATH}/:id/restore`, async (visit) => {
      const { id } = await tasks.patch(visit.accountId, idOf(visit.request), {}, { restore: true });
      return pages.go(visit, boardPath(undefined, id), { text: 'The task is back.' });
    }),
  ];
}

function contextOf(
  { tasks, timeZones, now }: BoardOptions,
  visit: MemberVisit,
  category: number | undefined,
): BoardContext {
  const categories = tasks.categories.list(visit.accountId);
  // What the account has set holds on every device; else the day is that of the browser.
  const isSet = timeZones.chosen(visit.accountId) !== null;
  const today = isSet ? timeZones.of(visit.accountId).dayOf(now()) : visit.zone.day(now());
  const isKnown = categories.some(({ id }) => id === category);
  return { visit, categories, category: isKnown ? category : undefined, today };
}

/** The whole board, or one column of it page by page. */
function showBoard(options: BoardOptions, visit: MemberVisit, problem?: Problem): Reply {
  const { pages, tasks } = options;
  const { query, form } = visit.request;
  const board = contextOf(options, visit, readId(query.get('category') ?? form.get('category')));
  const only = COLUMNS.find(({ status }) => status === query.get('column'));
  const page = readId(query.get('page')) ?? 1;
  const categoryQuery = board.category === undefined ? '' : `&category=${board.category}`;
  const columns = COLUMNS.filter((column) => only === undefined || column === only).map((column) => {
    const { status } = column;
    const found = tasks.list(visit.accountId, {
      filter: { kanbanStatus: status, ...(board.category === undefined ? {} : { categoryId: board.category }) },
      // What is due first stands on top, what has no date below it; what is done, the latest first.
      order:
        status === 'done' ? { sortBy: 'completed_at', descending: true } : { sortBy: 'due_date', descending: false },
      offset: (page - 1) * limits.boardColumnRows,
      limit: limits.boardColumnRows,
    });
    const shown = page * limits.boardColumnRows;
    const more = `${PATH}?column=${status}${categoryQuery}${only === undefined ? '' : `&page=${page + 1}`}`;
    return { column, ...found, more: found.total > shown ? more : undefined };
  });
  const isEmpty = only === undefined && board.category === undefined && columns.every(({ total }) => total === 0);
  return pages.show(visit, {
    title: only === undefined ? 'Tasks' : `Tasks: ${only.name}`,
    section: 'tasks',
    live: ['tasks'],
    status: problem === undefined ? 200 : 422,
    body: (
      <>
        <h1>Tasks</h1>
        <NewTask board={board} problem={problem} />
        <CategoryLinks {...board} />
        {only === undefined ? null : (
          <p>
            <a href={boardPath(board.category)}>Back to the whole board</a>
          </p>
        )}
        {isEmpty ? <NoTasks /> : null}
        <div class={only === undefined ? 'board' : 'board one'}>
          {columns.map((column) => (
            <Column key={column.column.status} {...column} board={board} />
          ))}
        </div>
      </>
    ),
  });
}

function showTask(options: BoardOptions, visit: MemberVisit, task: TaskRecord, problem?: Problem): Reply {
  return options.pages.show(visit, {
    title: 'Edit task',
    section: 'tasks',
    status: problem === undefined ? 200 : 422,
    body: <EditTask board={contextOf(options, visit, undefined)} task={task} problem={problem} />,
  });
}

async function create(options: BoardOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, tasks } = options;
  const tried = await problemOf('new', Object.fromEntries(form), () => tasks.create(visit.accountId, documentOf(form)));
  if (!tried.ok) return showBoard(options, visit, tried.problem);
  return pages.go(visit, boardPath(readId(form.get('category')), tried.value.id));
}

async function save(options: BoardOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, tasks } = options;
  const task = taskOf(options, visit);
  const values = Object.fromEntries(form);
  if (form.get('updated_at') !== task.updated_at) {
    const changed =
      'this task was changed elsewhere while you edited it; your text is kept here: save again to put it in its place';
    return showTask(options, visit, task, { form: 'edit', fields: { form: [changed] }, values });
  }
  const tried = await problemOf('edit', values, () => tasks.patch(visit.accountId, task.id, documentOf(form)));
  if (!tried.ok) return showTask(options, visit, task, tried.problem);
  return pages.go(visit, boardPath(undefined, task.id), { text: 'The task is saved.' });
}

/** What a form says of a task. A category is left as it is where the form has no field for it. */
function documentOf(form: URLSearchParams): Record<string, unknown> {
  const category = form.get('category_id') ?? form.get('category');
  return {
    // Forms send lines as CR LF.
    content: (form.get('content') ?? '').replace(/\r\n?/g, '\n'),
    due_date: form.get('due_date') || null,
    is_important: form.get('is_important') === 'true',
    ...(form.has('kanban_status') ? { kanban_status: form.get('kanban_status') } : {}),
    ...(category === null ? {} : { category_id: category === '' ? null : Number(category) }),
  };
}

function taskOf({ tasks }: BoardOptions, visit: MemberVisit): TaskRecord {
  return tasks.get(visit.accountId, idOf(visit.request));
}

function idOf({ params }: RouteRequest): number | undefined {
  return readId(params['id'] ?? null);
}

function readId(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

/** The board, at a task's place in it. */
function boardPath(category: number | undefined, task?: number): string {
  return `${PATH}${category === undefined ? '' : `?category=${category}`}${task === undefined ? '' : `#task-${task}`}`;
}
