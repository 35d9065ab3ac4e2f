/** cairn tasks: reads and changes the tasks of an account from a terminal. */
import { z } from 'zod';
import { jsonLine } from '../../client/shown.ts';
import { readAs } from '../../client/sync/remote-record.ts';
import type { ToolClient } from '../../client/tools.ts';
import { nearest } from '../../text/nearest.ts';
import { type Command, type CommandOption, type Options, takes } from '../command.ts';
import { DATE_FORMS, readDue } from '../dates/due-date.ts';
import { hasColour, print, printTable } from '../output.ts';
import { UsageError } from '../usage-error.ts';
import { allCategories, categoryIdOf } from './documents/category.ts';
import { readDocumentText } from './documents/text-input.ts';
import { changesOf, given, readNumber, runForEach, runToolCommand, SERVER, toolsOf } from './documents/tool-call.ts';
import { type ListedTask, moreTasks, taskTable } from './task-table.ts';

const DUE = takes('due', 'DATE');
const CATEGORY = takes('category', 'NAME');
const STATUS = takes('status', 'COLUMN');
const EXPLAINS = {
  due: DATE_FORMS,
  category: 'name or number of the category',
  important: 'mark it as important',
};
const STATUSES = ['backlog', 'todo', 'in_progress', 'done'];
const COMPLETES = { status: STATUSES, category: 'category' } as const;
const change = changesOf(7);
const PAGE: readonly CommandOption[] = [takes('limit', 'N'), takes('offset', 'N')];
const FILTERS: readonly CommandOption[] = [STATUS, takes('search', 'TEXT'), CATEGORY, ...PAGE];

export const taskCommands: readonly Command[] = [
  {
    name: 'tasks',
    summary: 'list the tasks that are not done',
    options: [...FILTERS, SERVER],
    flags: ['today', 'overdue', 'all'],
    instead: {
      due: 'use --today or --overdue',
      done: 'use --all, or --status done',
      completed: 'use --all, or --status done',
      tomorrow: '`cairn tasks` lists all by date',
      open: '`cairn tasks` lists those',
    },
    completes: COMPLETES,
    explains: {
      ...EXPLAINS,
      search: 'only those with all of these words, in any case',
      status: 'only backlog, todo, in_progress or done',
      today: 'only tasks due today, in the time zone of the account',
      overdue: 'only tasks that are overdue',
      all: 'done tasks too',
      offset: 'skip the first of the list',
    },
    examples: ['cairn tasks', 'cairn tasks --today', 'cairn tasks --search certificate --all'],
    run: list,
  },
  {
    name: 'tasks add',
    summary: 'create a task',
    operands: ['TEXT'],
    isText: true,
    options: [DUE, CATEGORY, SERVER],
    flags: ['important'],
    instead: { priority: 'use --important' },
    completes: COMPLETES,
    explains: EXPLAINS,
    examples: ["cairn tasks add 'Renew the certificates' --due friday --important", 'git log -1 | cairn tasks add -'],
    run: add,
  },
  {
    name: 'tasks edit',
    summary: 'change the text, date, column or category of a task, or of several',
    operands: ['ID…'],
    options: [takes('text', 'TEXT'), DUE, STATUS, CATEGORY, SERVER],
    flags: ['important', 'not-important'],
    completes: { ...COMPLETES, ID: 'task' },
    explains: {
      text: 'new text of the task',
      due: `${EXPLAINS.due}; none removes the date`,
      status: 'backlog, todo, in_progress or done',
      category: `${EXPLAINS.category}; none removes it`,
      important: EXPLAINS.important,
      'not-important': 'remove that mark',
    },
    examples: ['cairn tasks edit 7 --due tomorrow', 'cairn tasks edit 7 9 12 --status in_progress --due none'],
    run: edit,
  },
  change('tasks done', 'mark a task as done', 'update_task', { completed: true }, 'open task'),
  change('tasks reopen', 'mark a task as not done', 'update_task', { completed: false }, 'done task'),
  change('tasks remove', 'move a task to the trash', 'delete_task', {}, 'task'),
  change('tasks restore', 'restore a task from the trash', 'update_task', { restore: true }),
];

const tasksSchema = z.object({
  tasks: z.array(
    z.object({
      id: z.number(),
      content: z.string(),
      due_date: z.string().nullable(),
      is_important: z.boolean(),
      completed: z.boolean(),
      kanban_status: z.string(),
      category_id: z.number().nullable(),
    }),
  ),
  has_more: z.boolean().optional(),
});

async function list(options: Options): Promise<number> {
  const status = statusOf(options);
  const tools = toolsOf(options);
  const offset = options.count('offset');
  const { structured } = await tools.call('list_tasks', {
    ...(status === undefined ? {} : { status }),
    ...(status !== undefined || options.flag('all') ? {} : { completed: false }),
    ...(options.flag('today') ? { due_today: true } : {}),
    ...(options.flag('overdue') ? { overdue: true } : {}),
    ...given('search', options.optional('search')),
    ...given('category_id', await categoryIdOf(tools, options.optional('category'))),
    ...given('limit', readNumber('limit', options.optional('limit'))),
    ...given('offset', offset),
    // The table is by date: so is what has room in it.
    sort_by: 'due_date',
  });
  if (options.json) {
    print(jsonLine(structured));
    return 0;
  }
  const { tasks, has_more: hasMore } = readAs(tasksSchema, structured);
  if (tasks.length === 0) print(emptyText(options));
  else printTable(taskTable(tasks, await categoryNames(tools, tasks), tableStyle()));
  if (hasMore === true) print(moreTasks(tasks, (offset ?? 0) + tasks.length));
  return 0;
}

function emptyText(options: Options): string {
  const isFiltered = FILTERS.some(({ name }) => options.optional(name) !== undefined);
  if (isFiltered || options.flag('today') || options.flag('overdue')) return 'No task matches.';
  return 'Nothing to do. Add a task with `cairn tasks add TEXT`.';
}

async function categoryNames(tools: ToolClient, tasks: readonly ListedTask[]): Promise<ReadonlyMap<number, string>> {
  if (tasks.every(({ category_id }) => category_id === null)) return new Map();
  return new Map((await allCategories(tools)).map(({ id, name }) => [id, name]));
}

function tableStyle() {
  const { isTTY: isTerminal, columns } = process.stdout;
  const today = readDue('today', new Date()) ?? '';
  return { today, columns: isTerminal ? columns : undefined, hasColour: hasColour() };
}

/** A column by its name, however it is written: `in progress`, `In-Progress`. Throws UsageError with the nearest one. */
function statusOf(options: Options): string | undefined {
  const text = options.optional('status');
  if (text === undefined) return undefined;
  const written = text.trim().toLowerCase().replaceAll(/[ -]/g, '_');
  const known =
    { doing: 'in_progress', started: 'in_progress', open: 'todo', completed: 'done', to_do: 'todo' }[written] ??
    written;
  if (STATUSES.includes(known)) return known;
  const guess = nearest(known, STATUSES);
  throw new UsageError(
    `--status ${text} is no column; ${guess === undefined ? `use ${STATUSES.join(', ')}` : `did you mean ${guess}?`}`,
  );
}

/** The text of a task as it was typed; `-` stands for standard input, as in every command that takes a text. */
async function textOf(typed: string | undefined): Promise<string | undefined> {
  return typed === '-' ? (await readDocumentText(typed)).trim() : typed;
}

async function add(options: Options): Promise<number> {
  return await runToolCommand(options, 'create_task', {
    content: await textOf(options.operand()),
    ...given('due_date', readDue(options.optional('due'), new Date())),
    ...given('category_id', await categoryIdOf(toolsOf(options), options.optional('category'))),
    ...(options.flag('important') ? { is_important: true } : {}),
  });
}

async function edit(options: Options): Promise<number> {
  const [due, category] = [options.optional('due'), options.optional('category')];
  if (options.flag('important') && options.flag('not-important')) {
    throw new UsageError('choose --important or --not-important');
  }
  const changes = {
    ...given('content', await textOf(options.optional('text'))),
    ...given('due_date', due === 'none' ? null : readDue(due, new Date())),
    ...given('kanban_status', statusOf(options)),
    ...given('category_id', category === 'none' ? null : await categoryIdOf(toolsOf(options), category)),
    ...(options.flag('important') ? { is_important: true } : {}),
    ...(options.flag('not-important') ? { is_important: false } : {}),
  };
  if (Object.keys(changes).length === 0) throw new UsageError('nothing to change: pass an option');
  if ('content' in changes && options.operands.length > 1) throw new UsageError('--text is for one task');
  return await runForEach(options, 'update_task', changes);
}
