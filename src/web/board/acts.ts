/** Runs the actions of a card's buttons, and builds the undo of each. */
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { TaskRecord } from '../../tasks/declared.ts';
import { taskChange } from '../../tasks/fields.ts';
import type { Capabilities } from '../capabilities.ts';
import type { Notice } from '../notices.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import { browserOf } from '../visit.ts';
import { columnNamed, wholeColumn } from './columns.ts';
import { backOf, litPath, readTaskId } from './filter.ts';

interface ActOptions extends Pick<Capabilities, 'tasks'> {
  readonly pages: Pages;
}

type Fields = Record<string, string>;

export function actRoutes(options: ActOptions): Route[] {
  const { pages, tasks } = options;
  const idOf = ({ request }: MemberVisit) => readTaskId(request.params['id']);
  return [
    pages.memberForm('/tasks/:id/move', (visit, form) => move(options, visit, form)),
    pages.memberForm('/tasks/:id/mark', async (visit, form) => {
      const isImportant = form.get('important') === 'true';
      const { id } = await tasks.patch(
        visit.accountId,
        idOf(visit),
        { is_important: isImportant },
        { by: browserOf(visit) },
      );
      const text = isImportant ? 'Marked important.' : 'No longer marked important.';
      return done(options, visit, form, id, text, { path: 'mark', fields: { important: String(!isImportant) } });
    }),
    pages.memberForm('/tasks/:id/delete', async (visit, form) => {
      const { id } = tasks.get(visit.accountId, idOf(visit));
      await tasks.remove(visit.accountId, id, browserOf(visit));
      const text = `Task moved to the trash, where it stays for ${limits.binDays} days.`;
      return pages.go(visit, backOf(form), noticeOf(form, id, text, { path: 'restore' }));
    }),
    pages.memberForm('/tasks/:id/restore', async (visit, form) => {
      const { id } = await tasks.patch(visit.accountId, idOf(visit), {}, { restore: true, by: browserOf(visit) });
      return done(options, visit, form, id, 'Task restored.', { path: 'delete' });
    }),
  ];
}

async function move({ pages, tasks }: ActOptions, visit: MemberVisit, form: URLSearchParams) {
  const { accountId } = visit;
  const before = tasks.get(accountId, readTaskId(visit.request.params['id']));
  const formerly = wholeColumn(tasks, accountId, before.kanban_status);
  const after = form.has('status')
    ? await tasks.patch(
        accountId,
        before.id,
        tasks.read(accountId, taskChange, { kanban_status: form.get('status') }),
        {
          by: browserOf(visit),
        },
      )
    : before;
  const shown =
    after.kanban_status === before.kanban_status ? formerly : wholeColumn(tasks, accountId, after.kanban_status);
  const place = readPlace(form, shown, before.id);
  if (place !== undefined && after.kanban_status !== 'done') {
    await tasks.places.put(accountId, after.kanban_status, { id: before.id, before: place.before, shown });
  }
  const undo = { path: 'move', fields: undoFields(before, after, formerly, place !== undefined) };
  const text =
    before.kanban_status === after.kanban_status
      ? 'Task moved.'
      : `Moved to ${columnNamed(after.kanban_status)?.name}.`;
  return done({ pages, tasks }, visit, form, before.id, text, undo);
}

/** The position in the column requested by a form; undefined: none. */
function readPlace(
  form: URLSearchParams,
  shown: readonly number[],
  id: number,
): { before: number | undefined } | undefined {
  const at = shown.indexOf(id);
  switch (form.get('place')) {
    case 'up':
      return { before: shown[Math.max(0, at - 1)] };
    case 'down':
      return { before: shown[at + 2] };
    case 'top':
      return { before: shown.find((other) => other !== id) };
    default:
      return form.has('before') ? { before: readTaskId(form.get('before')) } : undefined;
  }
}

/** The fields of a form that undoes a move. The manual order is undone only if the move set it. */
function undoFields(before: TaskRecord, after: TaskRecord, formerly: readonly number[], isPlaced: boolean): Fields {
  const next = formerly[formerly.indexOf(before.id) + 1];
  return {
    ...(before.kanban_status === after.kanban_status ? {} : { status: before.kanban_status }),
    ...(isPlaced && before.kanban_status !== 'done' ? { before: next === undefined ? '' : String(next) } : {}),
  };
}

interface UndoForm {
  readonly path: string;
  readonly fields?: Fields;
}

/** Redirects to the view that contained the form, at the task. */
function done(
  { pages }: ActOptions,
  visit: MemberVisit,
  form: URLSearchParams,
  id: number,
  text: string,
  undo: UndoForm,
) {
  return pages.go(visit, `${litPath(backOf(form), 'moved', id)}#task-${id}`, noticeOf(form, id, text, undo));
}

/** The notice after an action, with an undo. An undo itself cannot be undone. */
function noticeOf(form: URLSearchParams, id: number, text: string, { path, fields }: UndoForm): Notice {
  if (form.get('undo') === 'true') return { text: 'Undone.' };
  const action = `/tasks/${id}/${path}`;
  return { text, undo: { label: 'Undo', action, fields: { ...fields, back: backOf(form), undo: 'true' } } };
}
