/** Acts on many tasks at once: reads what was asked for, and builds the undo of it. */
import { z } from 'zod';
import { Refusal } from '../../common/fault.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { KANBAN_STATUSES, type TaskRecord } from '../../tasks/declared.ts';
import { taskChange } from '../../tasks/fields.ts';
import { dateOfDay, dayNumber } from '../../time/calendar.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Notice } from '../notices.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import { browserOf, todayOf } from '../visit.ts';
import { backOf, readTaskId } from './filter.ts';

export const MANY_PATH = '/tasks/many';
/** Id of the form that the boxes of the cards belong to. */
export const MANY_FORM = 'many';
/** Value of the category field that removes the category. */
export const NO_CATEGORY = 'none';

/** Due dates that can be chosen by a word: days from today; undefined: none. */
export const DUE_WORDS = [
  { value: 'today', label: 'Due today', days: 0 },
  { value: 'tomorrow', label: 'Due tomorrow', days: 1 },
  { value: 'week', label: 'Due in a week', days: 7 },
  { value: 'none', label: 'No due date', days: undefined },
] as const;

interface ManyOptions extends Pick<Capabilities, 'tasks' | 'timeZones'> {
  readonly pages: Pages;
  readonly now: () => number;
}

/** What a task was before: its id, its version after the act, and the fields that the act can change. */
const formerly = z.tuple([z.int(), z.int(), z.enum(KANBAN_STATUSES), z.int().nullable(), z.string().nullable()]);
const formerTasks = z.array(formerly).max(limits.boardManyMax);

export function manyRoutes(options: ManyOptions): Route[] {
  const { pages } = options;
  return [
    pages.memberForm(MANY_PATH, (visit, form) => actOnMany(options, visit, form)),
    pages.memberForm(`${MANY_PATH}/undo`, (visit, form) => undoMany(options, visit, form)),
  ];
}

/** The change that a form asks for, as a document of a task; empty: none. `today`: YYYY-MM-DD. Pure. */
export function manyChange(form: URLSearchParams, today: string): Readonly<Record<string, unknown>> {
  if (form.get('act') === 'done') return { kanban_status: 'done' };
  const [status, category, on] = ['status', 'category', 'on'].map((name) => form.get(name) ?? '');
  const word = DUE_WORDS.find(({ value }) => value === form.get('due'));
  const wordDate = word?.days === undefined ? null : dateOfDay(dayNumber(today) + word.days);
  return {
    ...(status ? { kanban_status: status } : {}),
    ...(category ? { category_id: category === NO_CATEGORY ? null : Number(category) } : {}),
    ...(on ? { due_date: on } : word === undefined ? {} : { due_date: wordDate }),
  };
}

async function actOnMany(options: ManyOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, tasks, timeZones, now } = options;
  const { accountId } = visit;
  const by = browserOf(visit);
  const back = backOf(form);
  const ids = new Set(form.getAll('task').map(readTaskId).slice(0, limits.boardManyMax));
  if (ids.size === 0) return pages.go(visit, back, { text: 'Select tasks first.', tone: 'bad' });
  const isDeletion = form.get('act') === 'delete';
  const change = manyChange(form, todayOf(timeZones, visit, now()));
  if (!isDeletion && Object.keys(change).length === 0) {
    return pages.go(visit, back, { text: 'Choose a column, a category or a due date first.', tone: 'bad' });
  }
  const fields = tasks.read(accountId, taskChange, change);
  const before = [...ids].flatMap((id) => (id === undefined ? [] : (tasks.find(accountId, id) ?? [])));
  const { after, left } = await settle(before, async ({ id }) =>
    isDeletion ? (await tasks.remove(accountId, id, by)).task : await tasks.patch(accountId, id, fields, { by }),
  );
  const changed = before.filter((task) => {
    const next = after.get(task.id);
    return next !== undefined && (isDeletion || next.version !== task.version);
  });
  const gone = ids.size - before.length + left;
  const text = isDeletion
    ? `${counted(changed.length)} moved to the trash, to stay there for ${limits.binDays} days.`
    : `${counted(changed.length)} ${form.get('act') === 'done' ? 'done' : 'changed'}.`;
  return pages.go(visit, back, {
    text: gone === 0 ? text : `${text} ${counted(gone)} left alone: deleted elsewhere.`,
    ...undoOf(changed, after, { back, isDeletion }),
  });
}

function undoOf(
  changed: readonly TaskRecord[],
  after: ReadonlyMap<number, TaskRecord>,
  { back, isDeletion }: { readonly back: string; readonly isDeletion: boolean },
): Pick<Notice, 'undo'> {
  if (changed.length === 0) return {};
  const was = changed.map(
    (task): z.output<typeof formerly> => [
      task.id,
      after.get(task.id)?.version ?? task.version,
      task.kanban_status,
      task.category_id,
      task.due_date,
    ],
  );
  const fields = { back, was: JSON.stringify(was), ...(isDeletion ? { deleted: 'true' } : {}) };
  return { undo: { label: 'Undo', action: `${MANY_PATH}/undo`, fields } };
}

/** Gives back what tasks were, except those that somebody changed since. */
async function undoMany({ pages, tasks }: ManyOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { accountId } = visit;
  const by = browserOf(visit);
  const isDeletion = form.get('deleted') === 'true';
  const { after, left } = await settle(readFormer(form.get('was')), async ({ id, ...change }) => {
    if (isDeletion) return await tasks.patch(accountId, id, {}, { restore: true, by });
    return await tasks.patch(accountId, id, tasks.read(accountId, taskChange, change), { by });
  });
  const text =
    left === 0 ? 'Undone.' : `${counted(after.size)} undone. ${counted(left)} changed since, and left alone.`;
  return pages.go(visit, backOf(form), { text, ...(left === 0 ? {} : { tone: 'bad' }) });
}

function readFormer(text: string | null) {
  let given: unknown;
  try {
    given = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  const former = formerTasks.safeParse(given);
  return (former.data ?? []).map(([id, version, kanban_status, category_id, due_date]) => ({
    id,
    expected_version: version,
    kanban_status,
    category_id,
    due_date,
  }));
}

/**
 * Acts on each, and returns the tasks afterwards by id, with the number of those that were refused. Throws the refusal if
 * all were refused, and what is not a refusal.
 */
async function settle<T extends { readonly id: number }>(
  each: readonly T[],
  act: (one: T) => Promise<TaskRecord>,
): Promise<{ readonly after: ReadonlyMap<number, TaskRecord>; readonly left: number }> {
  const settled = await Promise.allSettled(each.map(act));
  const after = new Map(settled.flatMap((one) => (one.status === 'fulfilled' ? [[one.value.id, one.value]] : [])));
  for (const one of settled) {
    if (one.status === 'rejected' && (after.size === 0 || !(one.reason instanceof Refusal))) throw one.reason;
  }
  return { after, left: each.length - after.size };
}

function counted(count: number): string {
  return count === 1 ? '1 task' : `${count} tasks`;
}
