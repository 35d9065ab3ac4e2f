/** The pages of activity: sessions of devices, agents and people, one session, one change, and the undo of them. */
import { Refusal } from '../../common/fault.ts';
import { readId } from '../../fields/kinds.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { undoChanges } from '../../undo/undo.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import { authorOf, browserOf } from '../visit.ts';
import { showChange } from './change-page.tsx';
import { entriesOfSession, readSessions } from './entries.ts';
import { readActivityQuery, readSessionRef } from './query.ts';
import type { ActivityEntry } from './sessions.ts';
import { isAnyDone, keptOf, undoneText } from './undone.ts';
import { ActivityPage, SessionPageView, whoText } from './view.tsx';

export interface ActivityOptions
  extends Pick<Capabilities, 'activity' | 'sync' | 'audit' | 'tasks' | 'docs' | 'handoffs' | 'papers'> {
  readonly pages: Pages;
  readonly now: () => number;
}

const PATH = '/activity';

export function activityRoutes(options: ActivityOptions): Route[] {
  const { pages } = options;
  return [
    pages.member(PATH, (visit) => showActivity(options, visit)),
    pages.member(`${PATH}/session`, (visit) => showSession(options, visit)),
    pages.member(`${PATH}/change/:number`, (visit) => showChange(options, visit)),
    pages.memberForm(`${PATH}/undo`, (visit, form) => undo(options, visit, form)),
  ];
}

async function showActivity(options: ActivityOptions, visit: MemberVisit): Promise<Reply> {
  const { accountId, request } = visit;
  const query = readActivityQuery(request.query);
  const page = await readSessions(options, { accountId, ...query }, limits.activitySessions);
  return options.pages.show(visit, {
    title: 'Activity',
    section: 'activity',
    // A page of earlier sessions stays as it is.
    ...(query.beforeMs === Number.POSITIVE_INFINITY
      ? { live: ['tasks', 'vaults', 'documents', 'account'] as const }
      : {}),
    body: <ActivityPage visit={visit} page={page} query={query} details={detailsOf(options, accountId)} />,
  });
}

async function showSession(options: ActivityOptions, visit: MemberVisit): Promise<Reply> {
  const { accountId, request } = visit;
  const ref = readSessionRef(request.query);
  const session = ref && (await entriesOfSession(options, accountId, ref));
  if (session === undefined) throw new Refusal({ kind: 'not_found', what: 'this session is no longer kept' });
  const from = Number(request.query.get('entry') ?? 0) || 0;
  return options.pages.show(visit, {
    title: `Session of ${whoText(session, visit)}`,
    section: 'activity',
    body: <SessionPageView visit={visit} session={session} from={from} details={detailsOf(options, accountId)} />,
  });
}

/** What the rows of changes show besides the entries. */
function detailsOf({ activity, tasks }: ActivityOptions, accountId: string) {
  const names = new Map(tasks.categories.list(accountId).map(({ id, name }) => [id, name]));
  return {
    changeOf: (number: number) => activity.get(accountId, number),
    isTaskGone: (id: number) => tasks.find(accountId, id) === undefined,
    categoryName: (id: number) => names.get(id),
  };
}

async function undo(options: ActivityOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, now } = options;
  const { accountId } = visit;
  const startMs = now();
  const entries = await entriesToUndo(options, accountId, form);
  const by = { author: browserOf(visit), device: authorOf(visit) };
  const changes = entries.slice(0, limits.activityUndoMax).flatMap(({ ref }) => (ref.of === 'event' ? [] : [ref]));
  const undone = await undoChanges(options, accountId, changes, { by });
  const hasMore = entries.length > limits.activityUndoMax ? ' There are more changes: undo again to continue.' : '';
  // Only what this undo did, however fast the next change comes.
  const fields = { by: by.author, first: String(startMs), last: String(now()), back: backOf(form) };
  return pages.go(visit, backOf(form), {
    text: `${undoneText(undone)}${hasMore}`,
    ...(keptOf(undone).length === 0 ? {} : { tone: 'bad' as const }),
    ...(isAnyDone(undone) ? { undo: { label: 'Undo', action: `${PATH}/undo`, fields } } : {}),
  });
}

/** One change by its number or version, or all changes of a session. */
async function entriesToUndo(
  options: ActivityOptions,
  accountId: string,
  form: URLSearchParams,
): Promise<ActivityEntry[]> {
  const ref = readSessionRef(form);
  if (ref === undefined) throw new Refusal({ kind: 'not_found', what: 'this change is no longer kept' });
  const found = await entriesOfSession(options, accountId, ref);
  const only = {
    number: readId(form.get('number') ?? undefined),
    vault: form.get('vault'),
    seq: readId(form.get('seq') ?? undefined),
  };
  const isOne = only.number !== undefined || only.seq !== undefined;
  const entries = (found?.entries ?? []).filter(({ ref: made }) => {
    if (!isOne) return true;
    if (made.of === 'record') return made.number === only.number;
    return made.of === 'file' && made.vaultId === only.vault && made.seq === only.seq;
  });
  if (entries.length === 0) throw new Refusal({ kind: 'not_found', what: 'this change is no longer kept' });
  return entries;
}

/** Where the form was, on this service. */
function backOf(form: URLSearchParams): string {
  const back = form.get('back') ?? PATH;
  return /^\/(activity|tasks)([/?#]|$)/.test(back) ? back : PATH;
}
