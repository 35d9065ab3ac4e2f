/** Defines the tools for tasks. */

import { z } from 'zod';
import { invalidField } from '../common/fault.ts';
import type { CallerName } from '../common/principal.ts';
import { idFrom } from '../fields/kinds.ts';
import { ADDS, DESTROYS, defineTool, JsonText, READS, SETS, type Tool } from '../gateway/tool.ts';
import { headed, plural } from '../gateway/words.ts';
import { limits } from '../limits/service.ts';
import type { AnyTable } from '../store/table.ts';
import type { Zone } from '../time/zone.ts';
import { categoryTools } from './category-tools.ts';
import { newTask, taskChangeOrRestore } from './fields.ts';
import { listArguments, taskSearchOf } from './list/arguments.ts';
import { taskJson, taskTables } from './records.ts';
import type { Tasks } from './service.ts';
import { type CategoryName, type ShownTask, taskText } from './shown.ts';
import { taskSchema } from './views.ts';

/** The time zones of accounts, provided by another capability, and the tables they are read from. */
export interface AccountZones {
  of(accountId: string): Zone;
  readonly tables: readonly AnyTable[];
}

const taskId = idFrom('list_tasks');

const oneTask = z.object({ task: taskSchema });

const changeArguments = z.strictObject({ id: taskId, ...taskChangeOrRestore.shape });

export function taskTools(tasks: Tasks, zones: AccountZones, nameOf: CallerName): Tool[] {
  return [
    listTasks(tasks, zones),
    createTask(tasks, nameOf),
    updateTask(tasks, nameOf),
    deleteTask(tasks, nameOf),
    ...categoryTools(tasks),
  ];
}

function listTasks(tasks: Tasks, zones: AccountZones): Tool {
  return defineTool({
    name: 'list_tasks',
    title: 'List tasks',
    access: 'account',
    description: 'Lists the tasks that match all filters.',
    input: listArguments,
    output: z.object({
      tasks: z.array(taskSchema),
      count: z.int().nonnegative().describe('Tasks in this answer'),
      has_more: z.boolean().describe('True when more match than the limit, or not all were examined'),
      complete: z.boolean().describe('False when there were too many tasks to look at them all; narrow the filters'),
    }),
    annotations: READS,
    hints: { search: 'list tasks todo what is next due today overdue' },
    example: { due_today: true, limit: 10 },
    madeFrom: [...taskTables, ...zones.tables],
    async handle(args, { accountId }) {
      const { category, search } = args;
      if (category !== undefined && args.category_id !== undefined)
        throw invalidField('category', 'send either category or category_id');
      if (category === undefined) tasks.checkCategory(accountId, args);
      const wanted =
        category === undefined ? args : { ...args, category_id: namedCategory(tasks, accountId, category) };
      const nowMs = tasks.now();
      const found = await tasks.searchShown(
        accountId,
        taskSearchOf(wanted, nowMs, () => zones.of(accountId)),
      );
      const hasNone = search !== undefined && found.tasks.length === 0 && found.complete;
      const rest = { count: found.tasks.length, has_more: found.hasMore, complete: found.complete };
      return {
        structured: new JsonText(
          `{"tasks":[${found.tasks.map(({ json }) => json).join(',')}],${JSON.stringify(rest).slice(1)}`,
        ),
        text: `${listText(found, (id) => tasks.categories.nameOf(accountId, id))}${hasNone ? NONE_FOUND : ''}`,
        // In every time zone a day begins at a full minute.
        sameUntilMs: args.due_today === true || args.overdue === true ? nowMs - (nowMs % 60_000) + 60_000 : Infinity,
      };
    },
  });
}

const NONE_FOUND = '; the tool search also finds slips, and looks everywhere';

/** The number of the category that a list names. Throws Refusal `invalid_fields` when there is none. */
function namedCategory(tasks: Tasks, accountId: string, name: string): number {
  const { id, guess } = tasks.categories.named(accountId, name);
  if (id !== undefined) return id;
  const next = guess === undefined ? 'list_categories lists all' : `did you mean ${guess}?`;
  throw invalidField('category', `no category ${name}; ${next}`);
}

function createTask(tasks: Tasks, nameOf: CallerName): Tool {
  return defineTool({
    name: 'create_task',
    title: 'Create a task',
    access: 'account',
    description: 'Creates a task.',
    input: newTask,
    output: oneTask.extend({
      same_content_as: z.int().positive().optional().describe('Task of the last minutes; was this call a repetition?'),
    }),
    annotations: ADDS,
    example: { content: 'Renew the certificate', due_date: '2026-12-01', is_important: true },
    read: (given, accountId) => tasks.read(accountId, newTask, given, 'arguments'),
    async handle(args, principal) {
      const { accountId } = principal;
      const task = await tasks.create(accountId, args, nameOf(principal));
      const twin = tasks.twinOf(accountId, task);
      const created = `created ${taskText(task, (id) => tasks.categories.nameOf(accountId, id))}`;
      const json = taskJson(task);
      if (twin === undefined) return { structured: new JsonText(`{"task":${json}}`), text: created };
      const hint = `#${twin} of the last minutes has the same content: if this call repeated one, call delete_task with id ${task.id}`;
      return { structured: new JsonText(`{"task":${json},"same_content_as":${twin}}`), text: `${hint}\n${created}` };
    },
  });
}

function updateTask(tasks: Tasks, nameOf: CallerName): Tool {
  return defineTool({
    name: 'update_task',
    title: 'Change a task',
    access: 'account',
    description: 'Updates the given fields of a task. restore brings it back from the trash.',
    input: changeArguments,
    output: oneTask,
    annotations: SETS,
    example: { id: 1, completed: true },
    read: (given, accountId) => tasks.read(accountId, changeArguments, given, 'arguments'),
    async handle({ id, restore = false, ...fields }, principal) {
      const task = await tasks.patch(principal.accountId, id, fields, { restore, by: nameOf(principal) });
      return {
        structured: new JsonText(`{"task":${taskJson(task)}}`),
        text: `task is now ${taskText(task, (one) => tasks.categories.nameOf(principal.accountId, one))}`,
      };
    },
  });
}

function deleteTask(tasks: Tasks, nameOf: CallerName): Tool {
  return defineTool({
    name: 'delete_task',
    title: 'Move a task to the trash',
    access: 'account',
    description: `Moves a task to the trash. update_task with restore brings it back for ${limits.binDays} days.`,
    input: z.strictObject({ id: taskId }),
    output: z.object({
      id: z.int().positive(),
      deleted_at: z.string().describe('Time of deletion, ISO 8601 UTC'),
    }),
    annotations: DESTROYS,
    example: { id: 1 },
    async handle({ id }, principal) {
      const { task } = await tasks.remove(principal.accountId, id, nameOf(principal));
      return {
        structured: { id, deleted_at: task.deleted_at ?? '' },
        text: `task #${id} is in the trash; update_task with restore: true brings it back within ${limits.binDays} days`,
      };
    },
  });
}

export function listText(
  {
    tasks: found,
    hasMore,
    complete,
  }: { readonly tasks: readonly ShownTask[]; readonly hasMore: boolean; readonly complete: boolean },
  categoryName: CategoryName,
): string {
  const more = complete
    ? hasMore
      ? ' (there are more; raise limit, continue with offset or narrow the filters)'
      : ''
    : '';
  const cut = complete ? '' : ` among the first ${limits.taskScanMax}; narrow the filters to look at the rest`;
  return headed(`${plural(found.length, 'task')}${more}${cut}`, found, (task) => task.textWith(categoryName));
}
