/** cairn tasks: reads and changes the tasks of an account from a terminal. */
import { type Command, type CommandOption, type Options, takes } from '../command.ts';
import { callTool, changesOf, given, readNumber, SERVER } from './documents/tool-call.ts';

const DUE = takes('due', 'DATE');
const CATEGORY = takes('category', 'ID');
const change = changesOf(7);
const FILTERS: readonly CommandOption[] = [
  takes('status', 'COLUMN'),
  takes('search', 'TEXT'),
  CATEGORY,
  takes('limit', 'N'),
];

export const taskCommands: readonly Command[] = [
  {
    name: 'tasks',
    summary: 'list the tasks that are not done',
    options: [...FILTERS, SERVER],
    flags: ['today', 'overdue', 'all'],
    examples: ['cairn tasks', 'cairn tasks --today', 'cairn tasks --search certificate --all'],
    run: list,
  },
  {
    name: 'tasks add',
    summary: 'create a task',
    operands: ['TEXT'],
    options: [DUE, CATEGORY, SERVER],
    flags: ['important'],
    examples: ["cairn tasks add 'Renew the certificates' --due 2026-12-01 --important"],
    run: add,
  },
  change('tasks done', 'mark a task as done', 'update_task', { completed: true }),
  change('tasks reopen', 'mark a task as not done', 'update_task', { completed: false }),
  change('tasks remove', 'move a task to the trash', 'delete_task', {}),
  change('tasks restore', 'restore a task from the trash', 'update_task', { restore: true }),
];

async function list(options: Options): Promise<number> {
  const status = options.optional('status');
  return await callTool(options, 'list_tasks', {
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
  return await callTool(options, 'create_task', {
    content: options.operand(),
    ...given('due_date', options.optional('due')),
    ...given('category_id', readNumber('category', options.optional('category'))),
    ...(options.flag('important') ? { is_important: true } : {}),
  });
}
