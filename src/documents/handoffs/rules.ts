/** Pure decisions about handoffs: which names are valid, how handoffs sort, and how a write changes one. */
import type { FieldErrors, Refusal } from '../../common/fault.ts';
import { changedBy } from '../../common/principal.ts';
import { recordNotFound } from '../../fields/not-found.ts';
import { limits } from '../../limits/service.ts';
import type { HandoffHead, HandoffRecord } from './records.ts';

/** Size of a text, and its preview. */
type TextFacts = Pick<HandoffRecord, 'size_bytes' | 'json_bytes' | 'preview'>;

/** Fields that identify a handoff. */
export type HandoffName = Pick<HandoffRecord, 'project' | 'topic' | 'date' | 'time'>;

/** Sorts before every time of its day. */
const NO_TIME = '----';

/** Returns a project or topic in its stored form. */
export function cleanName(name: string): string {
  return name.trim().normalize('NFC');
}

/** Returns a project or topic in the form used for comparison. */
export function foldName(name: string): string {
  return cleanName(name).toLowerCase();
}

/** Returns the field errors of cleaned projects and topics. */
export function nameErrors(names: Readonly<Partial<Record<'project' | 'topic', string>>>): FieldErrors {
  const errors: Record<string, string[]> = {};
  for (const [field, name] of Object.entries(names)) {
    const fits = name !== '' && name.length <= limits.handoffNameCharsMax;
    if (!fits || /\p{Cc}|\p{Cs}|\u{10ffff}/u.test(name)) {
      errors[field] = [`${field} must have 1 to ${limits.handoffNameCharsMax} printable characters`];
    }
  }
  return errors;
}

/** Returns a key part that sorts handoffs by date, then by time. A handoff without a time is the first of its day. */
export function dateKey({ date, time }: Pick<HandoffRecord, 'date' | 'time'>): string {
  return `d${date} ${time ?? NO_TIME}`;
}

/** Returns a key part that sorts handoffs by time, then by date. */
export function timeKey({ date, time }: Pick<HandoffRecord, 'date' | 'time'>): string {
  return `t${time ?? NO_TIME} ${date}`;
}

/** Returns the position of a handoff in a list, as one key part. */
export function placeOf(handoff: Pick<HandoffRecord, 'date' | 'time' | 'id'>): string {
  return `${handoff.date} ${handoff.time ?? NO_TIME} ${String(handoff.id).padStart(15, '0')}`;
}

export function isPlace(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2} (\d{4}|----) \d{15}$/.test(text);
}

export function handoffNotFound(what: string): Refusal {
  return recordNotFound(what, 'handoff_list');
}

/** Returns the next handoff of an account and the new head. */
export function decideNew(
  name: HandoffName,
  facts: TextFacts,
  head: HandoffHead | undefined,
  nowMs: number,
  by?: string,
) {
  const at = new Date(nowMs).toISOString();
  const handoff: HandoffRecord = {
    id: (head?.handoff_id ?? 0) + 1,
    ...name,
    version: 1,
    ...facts,
    created_at: at,
    updated_at: at,
  };
  return { handoff: changedBy(handoff, by), head: { handoff_id: handoff.id } satisfies HandoffHead };
}

/** Returns the handoff with another text and with its name in the new spelling. */
export function decideReplace(
  handoff: HandoffRecord,
  name: HandoffName,
  facts: TextFacts,
  nowMs: number,
  by?: string,
): HandoffRecord {
  const at = new Date(Math.max(nowMs, Date.parse(handoff.updated_at))).toISOString();
  return changedBy({ ...handoff, ...name, ...facts, version: handoff.version + 1, updated_at: at }, by);
}
