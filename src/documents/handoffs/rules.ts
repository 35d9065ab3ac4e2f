/** Pure decisions about handoffs: how they are found and sorted, and how a write changes one. */
import type { Refusal } from '../../common/fault.ts';
import { changedBy } from '../../common/principal.ts';
import { recordNotFound } from '../../fields/not-found.ts';
import { timeAfterIso } from '../../time/truth.ts';
import { foldName } from '../rules.ts';
import { declaredHandoff, type HandoffRecord } from './declared.ts';
import type { NewHandoff } from './fields.ts';
import type { HandoffHead } from './records.ts';

/** Size of a text, and its preview. */
type TextFacts = Pick<HandoffRecord, 'size_bytes' | 'json_bytes' | 'preview'>;

/** Fields that identify a handoff. */
export type HandoffName = Pick<HandoffRecord, 'project' | 'topic' | 'date' | 'time'>;

/** What a caller saves of one, besides the text. */
type HandoffFields = HandoffName & Omit<NewHandoff, 'content' | 'date' | 'time'>;

/** Sorts before every time of its day. */
const NO_TIME = '----';

/** Returns a key part that sorts handoffs by date, then by time. A handoff without a time is the first of its day. */
function dateKey({ date, time }: Pick<HandoffRecord, 'date' | 'time'>): string {
  return `d${date} ${time ?? NO_TIME}`;
}

/** Returns a key part that sorts handoffs by time, then by date. */
function timeKey({ date, time }: Pick<HandoffRecord, 'date' | 'time'>): string {
  return `t${time ?? NO_TIME} ${date}`;
}

/** Returns the position of a handoff in a list, as one key part. */
export function placeOf(handoff: Pick<HandoffRecord, 'date' | 'time' | 'id'>): string {
  return `${handoff.date} ${handoff.time ?? NO_TIME} ${String(handoff.id).padStart(15, '0')}`;
}

export function isPlace(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2} (\d{4}|----) \d{15}$/.test(text);
}

type NameKey = [project: string, topic: string, when: string];

/** Returns the key parts by which a name is found: with the date first, and with the time first. */
export function nameKeys({ project, topic, ...when }: HandoffName): [NameKey, NameKey] {
  const [of, about] = [foldName(project), foldName(topic)];
  return [
    [of, about, dateKey(when)],
    [of, about, timeKey(when)],
  ];
}

/** Returns the scope of one project or of all handoffs of an account. */
export function handoffScope(project: string | undefined): string {
  return project === undefined ? '*' : `=${foldName(project)}`;
}

export function handoffNotFound(what: string): Refusal {
  return recordNotFound(what, 'handoff_list');
}

/** Returns the next handoff of an account and the new head. */
export function decideNew(
  fields: HandoffFields,
  facts: TextFacts,
  head: HandoffHead | undefined,
  nowMs: number,
  by?: string,
) {
  const at = new Date(nowMs).toISOString();
  const id = (head?.handoff_id ?? 0) + 1;
  const when = { date: fields.date, time: fields.time };
  const handoff = declaredHandoff.make(fields, { ...when, ...facts, id, version: 1, created_at: at, updated_at: at });
  return { handoff: changedBy(handoff, by), head: { handoff_id: id } satisfies HandoffHead };
}

/** Returns the handoff with another text, other fields, and its name in the new spelling. */
export function decideReplace(
  handoff: HandoffRecord,
  fields: HandoffFields,
  facts: TextFacts,
  nowMs: number,
  by?: string,
): HandoffRecord {
  const at = timeAfterIso(nowMs, handoff.updated_at);
  const next = declaredHandoff.change(handoff, fields, { ...facts, version: handoff.version + 1, updated_at: at });
  return changedBy(next, by);
}
