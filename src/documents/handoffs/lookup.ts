/** Finds a handoff by name, and reads pages of handoffs. Read-only. */
import { invalidField, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import type { Reader } from '../../store/table.ts';
import { nearestName } from '../../text/nearest.ts';
import { cleanName, foldName } from '../rules.ts';
import type { HandoffRecord } from './declared.ts';
import { handoffNames, handoffRows, handoffs } from './records.ts';
import { handoffNotFound, handoffScope, isPlace, placeOf } from './rules.ts';
import { handoffUri } from './uri.ts';

export interface HandoffList {
  readonly handoffs: readonly HandoffRecord[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly cursor: string | undefined;
}

/** Sorts after every character that can follow in a key part. */
const END = '~';

interface HandoffName {
  readonly project: string;
  readonly topic: string;
  readonly date?: string | undefined;
  readonly time?: string | undefined;
}

/** Returns the handoff with this name; without a date or time, the latest match. */
export function latestHandoff(
  reader: Reader,
  accountId: string,
  { project, topic, date, time }: HandoffName,
): HandoffRecord | undefined {
  const prefix = [accountId, foldName(project), foldName(topic)];
  // Prefix of the rows that match. The greatest such row is the latest match.
  const when = date === undefined ? (time === undefined ? 'd' : `t${time} `) : `d${date} ${time ?? ''}`;
  const [row] = reader.range(handoffNames, { prefix, reverse: true, beyond: `${when}${END}`, limit: 1 });
  return row?.key[3].startsWith(when) === true ? reader.get(handoffs, [accountId, row.value.id]) : undefined;
}

/** As `latestHandoff`. Throws Refusal `not_found`, with the nearest name. */
export function findHandoff(reader: Reader, accountId: string, name: HandoffName): HandoffRecord {
  const found = latestHandoff(reader, accountId, name);
  if (found !== undefined) return found;
  const { project, topic, date, time } = name;
  const of = [date, time].filter((part) => part !== undefined).join(' ');
  const asked = `${JSON.stringify(cleanName(project))}, ${JSON.stringify(cleanName(topic))}`;
  const guess = guessOf(reader, accountId, foldName(project), foldName(topic));
  const meant =
    guess === undefined ? '' : `; did you mean ${JSON.stringify(guess.project)}, ${JSON.stringify(guess.topic)}?`;
  throw handoffNotFound(`no handoff of ${asked}${of && `, ${of}`}${meant}`);
}

/** What to say of a project and a topic that no handoff has; undefined: nothing is like it. */
export function unknownHandoff(
  reader: Reader,
  accountId: string,
  { project = '', topic = '' }: { readonly project?: string; readonly topic?: string },
): Refusal | undefined {
  const guess = guessOf(reader, accountId, foldName(project), foldName(topic));
  if (guess === undefined) return undefined;
  const what = `no handoff ${project}/${topic}; did you mean ${handoffUri(guess)}?`;
  return new Refusal({ kind: 'not_found', what, next: 'search finds ids' });
}

/** The project that was probably meant by a name that no handoff has; undefined: none is like it. */
export function meantProject(reader: Reader, accountId: string, project: string): string | undefined {
  return guessOf(reader, accountId, foldName(project), '')?.project;
}

/** The handoff with the nearest topic of the project, else one of the nearest project; undefined when the name exists. */
function guessOf(reader: Reader, accountId: string, project: string, topic: string): HandoffRecord | undefined {
  const names: { readonly project: string; readonly topic: string; readonly id: number }[] = [];
  for (let beyond: string[] = []; names.length < limits.namesGuessedMax; ) {
    const from = beyond.length === 0 ? {} : { beyond };
    const [row] = reader.range(handoffNames, { prefix: [accountId], limit: 1, ...from });
    if (row === undefined) break;
    const [, ofProject, ofTopic] = row.key;
    names.push({ project: ofProject, topic: ofTopic, id: row.value.id });
    // Past every date of this name.
    beyond = [ofProject, ofTopic, END];
  }
  const here = names.filter((one) => one.project === project);
  if (here.some((one) => one.topic === topic)) return undefined;
  const guess = nearestName(
    topic,
    here.map((one) => one.topic),
  );
  const nearProject = nearestName(
    project,
    names.map((one) => one.project),
  );
  const found = here.find((one) => one.topic === guess) ?? names.find((one) => one.project === nearProject);
  return found && reader.get(handoffs, [accountId, found.id]);
}

/** Returns a page, newest first. Throws Refusal `invalid_fields` when the cursor is invalid. */
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
    throw invalidField('cursor', 'cursor must come from an earlier answer of this tool; omit it for the first page');
  }
  const prefix = [accountId, handoffScope(project)];
  const rows = store.range(handoffRows, { prefix, reverse: true, beyond: cursor ?? END, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    handoffs: page.map(({ value: { id } }) => existing(store, accountId, id)),
    cursor: rows.length > limit ? page.at(-1)?.key[2] : undefined,
  };
}

/**
 * Returns a page of the newest handoff of each project, newest first. One read per project, however many handoffs it
 * has; of an account with more than `limits.handoffProjectsMax` projects, those with the last names.
 */
export function newestOfEach(
  store: Store,
  accountId: string,
  { limit, cursor = END }: { readonly limit: number; readonly cursor?: string | undefined },
): HandoffList {
  const found: HandoffRecord[] = [];
  const all = handoffScope(undefined);
  let [row] = store.range(handoffRows, { prefix: [accountId], reverse: true, limit: 1 });
  while (row !== undefined && row.key[1] !== all && found.length < limits.handoffProjectsMax) {
    found.push(existing(store, accountId, row.value.id));
    [row] = store.range(handoffRows, { prefix: [accountId], reverse: true, beyond: row.key[1], limit: 1 });
  }
  const rest = found.filter((handoff) => placeOf(handoff) < cursor).sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return { handoffs: page, cursor: rest.length > limit && last !== undefined ? placeOf(last) : undefined };
}

function existing(reader: Pick<Reader, 'get'>, accountId: string, id: number): HandoffRecord {
  const handoff = reader.get(handoffs, [accountId, id]);
  if (handoff === undefined) throw new Error(`an index refers to handoff ${id}, which does not exist`);
  return handoff;
}
