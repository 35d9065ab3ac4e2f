/** Owns where handoffs stand, how one is found by what names it, and how a page of them is read. Only reads. */
import { invalidField } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { Store } from '../store/store.ts';
import type { Reader } from '../store/table.ts';
import { type HandoffRecord, handoffNames, handoffRows, handoffs } from './records.ts';
import { byDate, byTime, cleanName, foldName, handoffNotFound, isPlace, placeOf } from './rules.ts';

export interface HandoffList {
  readonly handoffs: readonly HandoffRecord[];
  /** Where to go on; undefined: that was all. */
  readonly cursor: string | undefined;
}

/** Above everything that a key part of ours begins with. */
const END = '~';

export function namesOf(accountId: string, handoff: HandoffRecord): [string, string, string, string][] {
  const [project, topic] = [foldName(handoff.project), foldName(handoff.topic)];
  return [byDate(handoff), byTime(handoff)].map((when) => [accountId, project, topic, when]);
}

export function rowsOf(accountId: string, handoff: HandoffRecord): [string, string, string][] {
  return [scopeOf(undefined), scopeOf(handoff.project)].map((scope) => [accountId, scope, placeOf(handoff)]);
}

/** All of an account, or one project. */
function scopeOf(project: string | undefined): string {
  return project === undefined ? '*' : `=${foldName(project)}`;
}

/** The handoff of that name; without a date or a time, the latest that matches. Refuses with `not_found`. */
export function findHandoff(
  reader: Reader,
  accountId: string,
  {
    project,
    topic,
    date,
    time,
  }: {
    readonly project: string;
    readonly topic: string;
    readonly date?: string | undefined;
    readonly time?: string | undefined;
  },
): HandoffRecord {
  const prefix = [accountId, foldName(project), foldName(topic)];
  // What the row of a match begins with; the greatest such row is the latest match.
  const when = date === undefined ? (time === undefined ? 'd' : `t${time} `) : `d${date} ${time ?? ''}`;
  const [row] = reader.range(handoffNames, { prefix, reverse: true, beyond: `${when}${END}`, limit: 1 });
  const found = row?.key[3].startsWith(when) === true ? reader.get(handoffs, [accountId, row.value.id]) : undefined;
  if (found !== undefined) return found;
  const of = [date, time].filter((part) => part !== undefined).join(' ');
  throw handoffNotFound(
    `no handoff of ${JSON.stringify(cleanName(project))}, ${JSON.stringify(cleanName(topic))}${of && `, ${of}`}`,
  );
}

/** A page, newest first. Refuses a cursor that is none. */
export function listHandoffs(
  store: Store,
  accountId: string,
  request: {
    readonly project?: string | undefined;
    readonly limit?: number | undefined;
    readonly cursor?: string | undefined;
  },
): HandoffList {
  const { project, cursor, limit = limits.handoffListDefault } = request;
  if (cursor !== undefined && !isPlace(cursor)) {
    throw invalidField('cursor', 'cursor must come from an earlier answer of this tool; omit it to start again');
  }
  const prefix = [accountId, scopeOf(project)];
  const rows = store.range(handoffRows, { prefix, reverse: true, beyond: cursor ?? END, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    handoffs: page.map(({ value: { id } }) => existing(store, accountId, id)),
    cursor: rows.length > limit ? page.at(-1)?.key[2] : undefined,
  };
}

/** The newest handoff of each of at most `limit` projects, the newest of all first. A project costs one read, however many it has. */
export function newestOfEach(store: Store, accountId: string, limit: number): HandoffRecord[] {
  const found: HandoffRecord[] = [];
  const all = scopeOf(undefined);
  let [row] = store.range(handoffRows, { prefix: [accountId], reverse: true, limit: 1 });
  while (row !== undefined && row.key[1] !== all && found.length < limit) {
    found.push(existing(store, accountId, row.value.id));
    [row] = store.range(handoffRows, { prefix: [accountId], reverse: true, beyond: row.key[1], limit: 1 });
  }
  return found.sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
}

function existing(reader: Pick<Reader, 'get'>, accountId: string, id: number): HandoffRecord {
  const handoff = reader.get(handoffs, [accountId, id]);
  if (handoff === undefined) throw new Error(`an index names handoff ${id}, which is not there`);
  return handoff;
}
