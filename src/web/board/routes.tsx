/** The pages of the task board, and the forms that create and edit a task. */
import type { Reply } from '../../http/reply/reply.ts';
import type { Route, RouteRequest } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { TaskRecord } from '../../tasks/declared.ts';
import { newTask, taskChange } from '../../tasks/fields.ts';
import type { Capabilities } from '../capabilities.ts';
import { CutSearch, type Problem } from '../fields.tsx';
import { otherFormFields, readOtherFields } from '../other-fields.tsx';
import type { MemberVisit, PageAnswer, Pages } from '../pages.ts';
import { problemOf } from '../problem.ts';
import { browserOf, shownStates, todayOf } from '../visit.ts';
import { actRoutes } from './acts.ts';
import type { BoardContext } from './card.tsx';
import { categoryRoutes } from './categories.tsx';
import { columnNamed, readColumns } from './columns.ts';
import { backOf, boardPath, isNarrowed, litPath, readFilter, readTaskId } from './filter.ts';
import { EditTask, NewTask, OPENED, OTHER_FIELDS } from './forms.tsx';
import { TaskChanges } from './history.tsx';
import { manyRoutes } from './many.ts';
import { ManyBar, SelectToggle } from './many-bar.tsx';
import { mergeTask, readOpened } from './merge-task.ts';
import { trashRoutes } from './trash.tsx';
import { Column, ColumnTabs, FilterForm, FilterToggle, NoTasks } from './view.tsx';

const PATH = '/tasks';

export interface BoardOptions extends Pick<Capabilities, 'tasks' | 'timeZones' | 'activity'> {
  readonly pages: Pages;
  readonly now: () => number;
}

export function boardRoutes(options: BoardOptions): Route[] {
  const { pages } = options;
  // A pasted text that is too long for a task returns in its form.
  const bytesMax = limits.editFormBytesMax;
  return [
    pages.member(PATH, (visit) => showBoard(options, visit)),
    pages.memberForm(PATH, (visit, form) => create(options, visit, form), { bytesMax }),
    ...categoryRoutes(options),
    ...trashRoutes(options),
    ...manyRoutes(options),
    pages.member(`${PATH}/:id`, (visit) => showTask(options, visit, taskOf(options, visit))),
    pages.memberForm(`${PATH}/:id`, (visit, form) => save(options, visit, form), { bytesMax }),
    ...actRoutes(options),
  ];
}

function contextOf({ tasks, timeZones, now }: BoardOptions, visit: MemberVisit, query: URLSearchParams): BoardContext {
  const categories = tasks.categories.list(visit.accountId);
  const filter = readFilter(query, (id) => categories.some((category) => category.id === id));
  return {
    visit,
    categories,
    filter,
    back: boardPath(filter),
    today: todayOf(timeZones, visit, now()),
    shown: shownStates(visit),
  };
}

/** Shows the whole board, or one column page by page. */
async function showBoard(options: BoardOptions, visit: MemberVisit, problem?: Problem): Promise<Reply> {
  const { pages, tasks, timeZones } = options;
  const { request } = visit;
  // A refused form shows the view that contained it.
  const query =
    problem === undefined ? request.query : new URL(backOf(request.form), 'http://cairn.invalid').searchParams;
  const lit = litTask(tasks, visit, query);
  const context = contextOf(options, visit, query);
  // On a phone, the tab of the column that a new task is in is shown.
  const filter =
    lit === undefined || !query.has('added') ? context.filter : { ...context.filter, tab: lit.kanban_status };
  const whole = { ...context, filter, back: boardPath(filter), lit };
  const column = columnNamed(query.get('column'));
  const page = readTaskId(query.get('page')) ?? 1;
  // An action on a page of one column leads back to it.
  const board =
    column === undefined
      ? whole
      : { ...whole, back: boardPath(whole.filter, { column: column.status, page: String(page) }) };
  const columns = await readColumns(tasks, {
    accountId: visit.accountId,
    filter: board.filter,
    today: board.today,
    zone: timeZones.of(visit.accountId),
    only: column === undefined ? undefined : { column, page },
    lit,
  });
  const isEmpty =
    column === undefined && !isNarrowed(board.filter) && columns.every(({ tasks: found }) => found.length === 0);
  return pages.show(visit, {
    title: column === undefined ? 'Tasks' : `Tasks: ${column.name}`,
    section: 'tasks',
    live: ['tasks'],
    problem,
    body: (
      <>
        <div class="title-row">
          <h1>Tasks</h1>
          <FilterToggle board={board} />
          {isEmpty ? null : <SelectToggle />}
          <p class="title-links">
            <a href="/tasks/categories">Categories</a>
            <a href="/tasks/trash">Trash</a>
          </p>
        </div>
        <NewTask board={board} problem={problem} isNext={query.has('added')} />
        <FilterForm board={board} />
        <CutSearch query={visit.request.query} charsMax={limits.taskSearchCharsMax} />
        {column === undefined ? (
          <ColumnTabs columns={columns} board={board} />
        ) : (
          <p>
            <a href={whole.back}>Back to the whole board</a>
          </p>
        )}
        {isEmpty ? <NoTasks /> : null}
        <div class={column === undefined ? 'board' : 'board one'} data-sorted={board.filter.sort}>
          {columns.map((found) => (
            <Column key={found.column.status} found={found} board={board} />
          ))}
        </div>
        <ManyBar board={board} />
      </>
    ),
  });
}

/** The task that an address says was added or moved just now; undefined: none, or it is deleted. */
function litTask(tasks: Capabilities['tasks'], visit: MemberVisit, query: URLSearchParams): TaskRecord | undefined {
  const id = readTaskId(query.get('added') ?? query.get('moved'));
  return id === undefined ? undefined : tasks.find(visit.accountId, id);
}

function showTask(options: BoardOptions, visit: MemberVisit, task: TaskRecord, problem?: Problem): PageAnswer {
  const board = contextOf(options, visit, new URLSearchParams());
  const changes = options.activity.of(visit.accountId, 'tasks', task.id, limits.taskChangesShown);
  return options.pages.show(visit, {
    title: 'Edit task',
    section: 'tasks',
    problem,
    body: (
      <>
        <EditTask board={board} task={task} problem={problem} />
        <TaskChanges visit={visit} changes={changes} categories={board.categories} />
      </>
    ),
  });
}

async function create(options: BoardOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, tasks } = options;
  const tried = await problemOf('new', Object.fromEntries(form), () =>
    tasks.create(visit.accountId, tasks.read(visit.accountId, newTask, documentOf(form, 'new')), browserOf(visit)),
  );
  if (!tried.ok) return await showBoard(options, visit, tried.problem);
  const { id } = tried.value;
  const back = backOf(form);
  return pages.go(visit, litPath(back, 'added', id), {
    text: 'Task added.',
    undo: { label: 'Undo', action: `${PATH}/${id}/delete`, fields: { back, undo: 'true' } },
  });
}

async function save(options: BoardOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, tasks } = options;
  const task = taskOf(options, visit);
  const values = Object.fromEntries(form);
  const change = { ...documentOf(form, 'change'), expected_version: Number(form.get('expected')) };
  const tried = await problemOf('edit', values, () =>
    tasks.patch(visit.accountId, task.id, tasks.read(visit.accountId, taskChange, change), { by: browserOf(visit) }),
  );
  const isUndo = form.get('undo') === 'true';
  if (!tried.ok) {
    const merged = isUndo ? undefined : await mergeSaved(options, visit, form, change);
    if (merged === undefined) return showTask(options, visit, taskOf(options, visit), tried.problem);
    const { before, after } = merged;
    return pages.go(visit, `${litPath(PATH, 'moved', task.id)}#task-${task.id}`, {
      text: `Task saved, and merged with a change by ${before.changed_by ?? 'somebody else'}.`,
      undo: undoOf(before, after),
    });
  }
  return pages.go(
    visit,
    `${litPath(PATH, 'moved', task.id)}#task-${task.id}`,
    isUndo ? { text: 'Undone.' } : { text: 'Task saved.', undo: undoOf(task, tried.value) },
  );
}

/**
 * Saves again with what another change left alone, if the two do not overlap. Undefined: they do, or the refusal had another
 * cause.
 */
async function mergeSaved(
  options: BoardOptions,
  visit: MemberVisit,
  form: URLSearchParams,
  change: Readonly<Record<string, unknown>>,
): Promise<{ readonly before: TaskRecord; readonly after: TaskRecord } | undefined> {
  const { tasks } = options;
  const before = taskOf(options, visit);
  const opened = readOpened(form.get(OPENED));
  if (opened === undefined || before.version === change['expected_version']) return undefined;
  const { expected_version: _opened, ...mine } = change;
  const merged = mergeTask(opened, mine, { ...before });
  if (merged === undefined) return undefined;
  const tried = await problemOf('edit', {}, () => {
    const fields = tasks.read(visit.accountId, taskChange, { ...merged, expected_version: before.version });
    return tasks.patch(visit.accountId, before.id, fields, { by: browserOf(visit) });
  });
  return tried.ok ? { before, after: tried.value } : undefined;
}

/** The undo form: it restores the previous fields, unless the task was changed again since. */
function undoOf(before: TaskRecord, { version }: TaskRecord) {
  const { id, content, due_date: due, is_important: isImportant, kanban_status, category_id: category } = before;
  const fields = {
    ...otherFormFields(OTHER_FIELDS, before),
    expected: String(version),
    content,
    due_date: due ?? '',
    kanban_status,
    category_id: category === null ? '' : String(category),
    undo: 'true',
    ...(isImportant ? { is_important: 'true' } : {}),
  };
  return { label: 'Undo', action: `${PATH}/${id}`, fields };
}

/** Reads the fields of a task from a form. The category stays unchanged if the form has no field for it. */
function documentOf(form: URLSearchParams, forWhat: 'new' | 'change'): Record<string, unknown> {
  const category = form.get('category_id') ?? form.get('category');
  return {
    ...readOtherFields(OTHER_FIELDS, form, forWhat),
    // Forms send line ends as CR LF.
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
  return readTaskId(params['id']);
}
