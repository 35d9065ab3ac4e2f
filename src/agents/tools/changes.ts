/** Answers what changed lately, of every kind and by whom, and what became of one task: the history without versions. */
import type { ChangeRecord } from '../../activity/records.ts';
import type { AccountEvents, EventFilter } from '../../events/account-events.ts';
import { isChangeWanted, type ToldEvent, type WantedChanges } from '../../events/event.ts';
import { eventOfChange } from '../../events/logs.ts';
import { headed, oneLine, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { fileName } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import { minute } from './shown.ts';

interface Asked extends EventFilter {
  readonly limit: number;
  readonly cursor: string | undefined;
}

const NAMES_SHOWN = 8;
const NAME_CHARS = 80;

/** The newest changes of an account. Throws Refusal `invalid_fields` for a cursor of something else. */
export function recentChanges(shelves: Shelves, accountId: string, { cursor, ...query }: Asked) {
  const { events } = shelves;
  const before = cursor === undefined ? undefined : events.pastCursors.read(accountId, cursor);
  const { changes, next, names } = events.past(accountId, before, query);
  const told = changes.map(({ event }) => event);
  const more = next && events.pastCursors.format(accountId, next);
  const notes = [
    ...(query.by !== undefined && told.length === 0 ? [nobody(query.by, names)] : []),
    ...keptNote(events, accountId, query.sinceMs, more !== undefined),
    ...(more === undefined ? [] : [`there may be earlier ones, go on with cursor ${JSON.stringify(more)}`]),
  ];
  const headline = [plural(told.length, 'change'), ...notes].join('; ');
  return {
    structured: { versions: [], changes: told, cursor: more ?? null },
    text: headed(headline, told, (event) => changeLine(shelves, accountId, event)),
  };
}

function nobody(by: string, names: ReadonlySet<string>): string {
  const others = [...names].slice(0, NAMES_SHOWN);
  return `none by ${by}${others.length === 0 ? '' : `, but by ${others.join(', ')}`}`;
}

/** Says from when on everything is told, where the question goes further back. */
function keptNote(events: AccountEvents, accountId: string, sinceMs = 0, isCut: boolean): string[] {
  const keptMs = isCut ? undefined : events.recordsKeptFrom(accountId);
  return keptMs === undefined || keptMs <= sinceMs
    ? []
    : [`those of tasks and documents before ${minute(new Date(keptMs).toISOString())} are no longer kept`];
}

/** `2026-11-28T11:02:09.123Z laptop changed cairn://tasks/7 Renew the certificate (due_date)`: its time is a `since` that begins with it. */
function changeLine(
  shelves: Shelves,
  accountId: string,
  { at, by, act, thing, name, details, kind }: ToldEvent,
): string {
  const { vault_id: vaultId, path, renamed_from: from, fields } = details;
  const what =
    kind === 'file'
      ? `${typeof from === 'string' ? `${from} to ` : ''}${fileName(shelves, accountId, String(vaultId), String(path))}`
      : `${thing} ${oneLine(name, NAME_CHARS)}`;
  const changed = Array.isArray(fields) ? ` (${fields.join(', ')})` : '';
  return `${at} ${by ?? 'somebody'} ${act} ${what}${changed}`;
}

/** The changes of a task that is there or in the trash, newest first, with what was before. Throws Refusal `not_found`. */
export function taskChanges(
  { tasks, activity }: Shelves,
  accountId: string,
  id: number,
  { limit, ...within }: WantedChanges & { readonly limit: number },
) {
  const isThere = tasks.find(accountId, id) !== undefined;
  const newest = activity.of(accountId, 'tasks', id, limits.historyMax);
  if (!isThere && newest.length === 0) tasks.get(accountId, id);
  const changes = newest.filter(({ at_ms: atMs, by }) => isChangeWanted(within, atMs, by)).slice(0, limit);
  const told = changes.map((change) => eventOfChange(change.number, change));
  const where = isThere ? '' : '; it is in the trash';
  return {
    structured: { id: `cairn://tasks/${id}`, versions: [], changes: told, cursor: null },
    text: headed(`cairn://tasks/${id}: ${plural(changes.length, 'change')}${where}`, changes, taskLine),
  };
}

function taskLine({ at_ms: atMs, by, act, before, after }: ChangeRecord): string {
  const fields = Object.keys(after).map((name) => `${name} ${shownValue(before[name])} → ${shownValue(after[name])}`);
  return `${minute(new Date(atMs).toISOString())} ${by ?? 'somebody'} ${act}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`;
}

const shownValue = (value: unknown): string => oneLine(JSON.stringify(value ?? null), NAME_CHARS);
