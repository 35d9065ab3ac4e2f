/** Declares the tools that add and change many tasks in one call. Categories are named, not numbered. */
import { z } from 'zod';
import { planOnce } from '../../actors/once/calls.ts';
import { attempt } from '../../common/attempt.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { idFrom } from '../../fields/kinds.ts';
import type { Progress } from '../../gateway/asking/progress.ts';
import { explainToModel } from '../../gateway/model-words.ts';
import { ADDS, defineTool, SETS, type Tool } from '../../gateway/tool.ts';
import { headed, oneLine, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { declaredTask } from '../../tasks/declared.ts';
import { newTask, taskChange } from '../../tasks/fields.ts';
import { taskSearchOf } from '../../tasks/list/arguments.ts';
import type { Tasks } from '../../tasks/service.ts';
import { type CategoryName, taskText } from '../../tasks/shown.ts';
import { openZone } from '../../time/zone.ts';
import { categoryOf } from '../things/category.ts';
import type { Shelves } from '../things/thing.ts';
import { versionArgument } from './read.ts';

const { content, due_date, is_important, kanban_status } = declaredTask.inputs;
const category = z.string().max(limits.categoryNameCharsMax).optional();

const added = z.strictObject({
  content,
  due_date: due_date.optional(),
  is_important: is_important.optional(),
  category: category.describe('Its name; created if missing'),
  status: kanban_status.optional(),
});

/** A number, as lists show it, an id, as a search answers, or the text of a task. */
const taskId = z.union([idFrom('list_tasks'), z.string().trim().min(1).max(limits.taskSearchCharsMax)], {
  error: 'must be a number returned by list_tasks, an id like cairn://tasks/7, or the text of one task',
});

/** The number of a task. Throws Refusal `invalid_fields` when its text names none, or several. */
async function taskNumber(tasks: Tasks, { accountId }: Principal, named: z.output<typeof taskId>): Promise<number> {
  const number = /^(?:cairn:\/\/tasks\/|#)?([1-9]\d{0,14})$/.exec(String(named))?.[1];
  if (number !== undefined) return Number(number);
  const text = String(named);
  const search = { search: text, sort_by: 'updated_at', limit: limits.taskListMax } as const;
  const page = await tasks.searchShown(
    accountId,
    taskSearchOf(search, 0, () => UTC),
  );
  const found = page.tasks.map(({ json }) => JSON.parse(json) as { id: number; content: string; completed: boolean });
  const called = found.filter(({ content: of }) => of.split('\n')[0]?.trim().toLowerCase() === text.toLowerCase());
  // What is said is what is open, and called so; one that only has the words is meant when it is alone.
  const open = (some: typeof found) => some.filter(({ completed }) => !completed);
  const [some = []] = [open(called), called, open(found), found].filter((one) => one.length > 0);
  const [only, ...others] = some;
  if (only === undefined)
    throw invalidField('id', `no task has the text ${JSON.stringify(text)}; list_tasks shows them`);
  if (others.length > 0 || !page.complete) {
    const shown = some.slice(0, CANDIDATES).map(({ id, content: of }) => `#${id} ${oneLine(of, 60)}`);
    throw invalidField('id', `several tasks have the text ${JSON.stringify(text)}: ${shown.join('; ')}; send a number`);
  }
  return only.id;
}

const CANDIDATES = 5;
const UTC = openZone('UTC');

const changed = z.strictObject({
  id: taskId,
  content: content.optional(),
  due_date: due_date.optional(),
  is_important: is_important.optional(),
  completed: z.boolean().optional(),
  category: category.nullable().describe('Its name, created if missing; null: none'),
  status: kanban_status.optional(),
  remove: z.boolean().optional().describe('To the trash'),
  version: versionArgument.describe('Refused if changed since'),
});

const taskResults = z.object({
  tasks: z.array(declaredTask.shown),
  failed: z.array(z.object({ index: z.int().nonnegative(), says: z.string() })),
});

export function taskListTools(shelves: Shelves): Tool[] {
  return [addTasks(shelves), changeTasks(shelves)];
}

function addTasks({ tasks, nameOf }: Shelves): Tool {
  return defineTool({
    name: 'add_tasks',
    title: 'Add tasks',
    access: 'account',
    description: 'Adds tasks: to-dos, reminders, plans.',
    input: z.strictObject({ tasks: z.array(added).min(1).max(limits.tasksAtOnceMax) }),
    output: taskResults,
    annotations: ADDS,
    hints: { search: 'add tasks todo reminder plan' },
    example: { tasks: [{ content: 'Renew the certificate', due_date: '2026-12-01', category: 'Operations' }] },
    async handle({ tasks: given }, principal, { progress }) {
      const called = (item: z.output<typeof added>) => JSON.stringify(oneLine(item.content, 60));
      return await each(given, { verb: 'added', called, progress }, async ({ category: named, status, ...fields }) => {
        const id = await categoryOf(tasks, principal, named);
        const made = {
          ...fields,
          ...(id === undefined ? {} : { category_id: id }),
          ...(status === undefined ? {} : { kanban_status: status }),
        };
        const read = tasks.read(principal.accountId, newTask, made, 'tasks');
        const task = await tasks.create(principal.accountId, read, nameOf(principal));
        const twin = tasks.twinOf(principal.accountId, task);
        const hint =
          twin === undefined ? '' : ` (the same as #${twin} of the last minutes: if unintended, remove this one)`;
        return { task, says: taskText(task, nameIn(tasks, principal)) + hint };
      });
    },
  });
}

function changeTasks({ tasks, nameOf }: Shelves): Tool {
  return defineTool({
    name: 'change_tasks',
    title: 'Change tasks',
    access: 'account',
    description:
      'Changes tasks: completed, due date, text, category, status, or removes them. id: a number, or the text of the task.',
    input: z.strictObject({ tasks: z.array(changed).min(1).max(limits.tasksAtOnceMax) }),
    output: taskResults,
    annotations: SETS,
    hints: { search: 'finish complete change task due date todo done' },
    example: { tasks: [{ id: 2, completed: true }] },
    async handle({ tasks: given }, principal, { progress }) {
      return await each(
        given,
        { verb: 'changed', called: ({ id }) => (typeof id === 'number' ? `#${id}` : id), progress },
        async ({ id: named, ...change }) =>
          await planOnce(
            ['task', named],
            async () => await taskNumber(tasks, principal, named),
            async (id) => await changeTask(tasks, principal, nameOf(principal), id, change),
          ),
      );
    },
  });
}

/** A program that sends null for each unset argument says none by an empty text. */
const NONE_BY_EMPTY = ['category', 'due_date'];

const NOTHING_SAID = `say what to change: ${Object.keys(changed.shape)
  .filter((name) => name !== 'id' && name !== 'version')
  .map((name) => (NONE_BY_EMPTY.includes(name) ? `${name} ("" for none)` : name))
  .join(', ')}`;

async function changeTask(
  tasks: Tasks,
  principal: Principal,
  by: string,
  id: number,
  { category: categoryName, status, remove, version, ...fields }: Omit<z.output<typeof changed>, 'id'>,
) {
  if (remove === true) {
    const { task } = await tasks.remove(principal.accountId, id, by, version);
    return { task, says: `#${id} is in the trash; restore brings it back` };
  }
  if (Object.values({ ...fields, categoryName, status }).every((one) => one === undefined))
    throw invalidField('id', NOTHING_SAID);
  const categoryId =
    categoryName === '' || categoryName === null ? null : await categoryOf(tasks, principal, categoryName);
  const change = {
    ...fields,
    ...(categoryId === undefined ? {} : { category_id: categoryId }),
    ...(status === undefined ? {} : { kanban_status: status }),
    ...(version === undefined ? {} : { expected_version: version }),
  };
  const read = tasks.read(principal.accountId, taskChange, change, 'tasks');
  const task = await tasks.patch(principal.accountId, id, read, { by });
  return { task, says: taskText(task, nameIn(tasks, principal)) };
}

function nameIn(tasks: Tasks, { accountId }: Principal): CategoryName {
  return (id) => tasks.categories.nameOf(accountId, id);
}

type Task = Parameters<typeof taskText>[0] & { readonly deleted_at?: string | null };

interface Each<T> {
  readonly verb: string;
  /** What the caller called an item, to say which one failed. */
  readonly called: (item: T) => string;
  readonly progress: Progress | undefined;
}

/** Runs a step for each item; a failed one does not stop the others. A single one that fails is refused. */
async function each<T>(
  items: readonly T[],
  { verb, called, progress }: Each<T>,
  run: (item: T) => Promise<{ readonly task: Task; readonly says: string }>,
) {
  const tasks: ReturnType<typeof declaredTask.show>[] = [];
  const says: string[] = [];
  const failed: { index: number; says: string }[] = [];
  const refused: string[] = [];
  for (const [index, item] of items.entries()) {
    const made = await attempt(() => run(item));
    if (made.ok) {
      tasks.push(declaredTask.show(made.value.task as Parameters<typeof declaredTask.show>[0]));
      says.push(made.value.says);
    } else if (items.length === 1) throw new Refusal(made.fault);
    else {
      const why = explainToModel(made.fault);
      failed.push({ index, says: why });
      refused.push(`not ${verb}: ${called(item)}: ${why}`);
    }
    progress?.(index + 1, items.length, `tasks ${verb}`);
  }
  const not = failed.length === 0 ? '' : `, ${failed.length} not`;
  const lines = [...refused, ...says];
  return {
    structured: { tasks, failed },
    text: headed(`${plural(tasks.length, 'task')} ${verb}${not}`, lines, (line) => line),
  };
}
