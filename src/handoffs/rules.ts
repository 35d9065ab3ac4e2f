/** Pure decisions about handoffs: which names are taken, in which order they stand, what a write makes of what is there. */
import { type FieldErrors, Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { HandoffHead, HandoffRecord } from './records.ts';

/** How much a text is, and how it begins. */
type TextFacts = Pick<HandoffRecord, 'size_bytes' | 'json_bytes' | 'preview'>;

/** What names a handoff. */
export type HandoffName = Pick<HandoffRecord, 'project' | 'topic' | 'date' | 'time'>;

/** Stands before every time of its day. */
const NO_TIME = '----';

/** A project or a topic as it is stored. */
export function cleanName(name: string): string {
  return name.trim().normalize('NFC');
}

/** The compared form of a project or a topic. */
export function foldName(name: string): string {
  return cleanName(name).toLowerCase();
}

/** What is wrong with a cleaned project or topic. */
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

/** When handoffs are of, as one part of a key: by date and then by time, a day's own handoff first. */
export function byDate({ date, time }: Pick<HandoffRecord, 'date' | 'time'>): string {
  return `d${date} ${time ?? NO_TIME}`;
}

/** The same by time and then by date. */
export function byTime({ date, time }: Pick<HandoffRecord, 'date' | 'time'>): string {
  return `t${time ?? NO_TIME} ${date}`;
}

/** Where a handoff stands in a list, as one part of a key. */
export function placeOf(handoff: Pick<HandoffRecord, 'date' | 'time' | 'id'>): string {
  return `${handoff.date} ${handoff.time ?? NO_TIME} ${String(handoff.id).padStart(15, '0')}`;
}

export function isPlace(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2} (\d{4}|----) \d{15}$/.test(text);
}

export function handoffNotFound(what: string): Refusal {
  return new Refusal({ kind: 'not_found', what: `${what}; handoff_list lists all` });
}

/** The next handoff of an account. */
export function decideNew(name: HandoffName, facts: TextFacts, head: HandoffHead | undefined, nowMs: number) {
  const at = new Date(nowMs).toISOString();
  const handoff: HandoffRecord = {
    id: (head?.handoff_id ?? 0) + 1,
    ...name,
    version: 1,
    ...facts,
    created_at: at,
    updated_at: at,
  };
  return { handoff, head: { handoff_id: handoff.id } satisfies HandoffHead };
}

/** The same handoff with another text, spelled as it is written now. */
export function decideReplace(
  handoff: HandoffRecord,
  name: HandoffName,
  facts: TextFacts,
  nowMs: number,
): HandoffRecord {
  const at = new Date(Math.max(nowMs, Date.parse(handoff.updated_at))).toISOString();
  return { ...handoff, ...name, ...facts, version: handoff.version + 1, updated_at: at };
}
