/** cairn tasks: reads and changes the tasks of an account from a terminal. */
import { type Command, type CommandOption, type Options, takes } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { changesOf, given, readNumber, runToolCommand, SERVER } from './documents/tool-call.ts';
import { readDue } from './due-date.ts';

const DUE = takes('due', 'DATE');
const CATEGORY = takes('category', 'ID');
const STATUS = takes('status', 'COLUMN');
const EXPLAINS = {
  due: 'YYYY-MM-DD, today, tomorrow, a weekday, or +3 for in three days',
  category: 'id of the category, which `cairn call list_categories` prints',
  important: 'mark it as important',
};
const change = changesOf(7);
const FILTERS: readonly CommandOption[] = [STATUS, takes('search', 'TEXT'), CATEGORY, takes('limit', 'N')];

export const taskCommands: readonly Command[] = [
  {
    name: 'tasks',
    summary: 'list the tasks that are not done',
    options: [...FILTERS, SERVER],
    flags: ['today', 'overdue', 'all'],
    explains: {
      ...EXPLAINS,
      status: 'only backlog, todo, in_progress or done',
      today: 'only tasks due today, in the time zone of the account',
      overdue: 'only tasks that are overdue',
      all: 'done tasks too',
    },
    examples: ['cairn tasks', 'cairn tasks --today', 'cairn tasks --search certificate --all'],
    run: list,
  },
  {
    name: 'tasks add',
    summary: 'create a task',
    operands: ['TEXT'],
    options: [DUE, CATEGORY, SERVER],
    flags: ['important'],
    explains: EXPLAINS,
    examples: ["cairn tasks add 'Renew the certificates' --due friday --important"],
    run: add,
  },
  {
    name: 'tasks edit',
    summary: 'change the text, date, column or category of a task',
    operands: ['ID'],
    options: [takes('text', 'TEXT'), DUE, STATUS, CATEGORY, SERVER],
    flags: ['important', 'not-important'],
    explains: {
      text: 'new text of the task',
      due: `${EXPLAINS.due}; none removes the date`,
      status: 'backlog, todo, in_progress or done',
      category: `${EXPLAINS.category}; none removes it`,
      important: EXPLAINS.important,
      'not-important': 'remove that mark',
    },
    examples: ['cairn tasks edit 7 --due tomorrow', 'cairn tasks edit 7 --status in_progress --due none'],
    run: edit,
  },
  change('tasks done', 'mark a task as done', 'update_task', { completed: true }),
  change('tasks reopen', 'mark a task as not done', 'update_task', { completed: false }),
  change('tasks remove', 'move a task to the trash', 'delete_task', {}),
  change('tasks restore', 'restore a task from the trash', 'update_task', { restore: true }),
];

async function list(options: Options): Promise<number> {
  const status = options.optional('status');
  return await runToolCommand(options, 'list_tasks', {
    ...(status === undefined ? {} : { status }),
    ...(status !== undefined || options.flag('all') ? {} : { completed: false }),
    ...(options.flag('today') ? { due_today: true } : {}),
    ...(options.flag('overdue') ? { overdue: true } : {}),
    ...given('search', options.optional('search')),
    ...given('category_id', readNumber('category', options.optional('category'))),
    ...given('limit', readNumber('limit', options.optional('limit'))),
  });
}

async function add(options: Options): Promise<number> {
  return await runToolCommand(options, 'create_task', {
    content: options.operand(),
    ...given('due_date', readDue(options.optional('due'), new Date())),
    ...given('category_id', readNumber('category', options.optional('category'))),
    ...(options.flag('important') ? { is_important: true } : {}),
  });
}

async function edit(options: Options): Promise<number> {
  const [due, category] = [options.optional('due'), options.optional('category')];
  if (options.flag('important') && options.flag('not-important')) {
    throw new UsageError('choose --important or --not-important');
  }
  const changes = {
    ...given('content', options.optional('text')),
    ...given('due_date', due === 'none' ? null : readDue(due, new Date())),
    ...given('kanban_status', options.optional('status')),
    ...given('category_id', category === 'none' ? null : readNumber('category', category)),
    ...(options.flag('important') ? { is_important: true } : {}),
    ...(options.flag('not-important') ? { is_important: false } : {}),
  };
  if (Object.keys(changes).length === 0) throw new UsageError('nothing to change: pass an option');
  return await runToolCommand(options, 'update_task', { id: readNumber('ID', options.operand()), ...changes });
}
