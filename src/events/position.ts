/**
 * Reads and writes event cursors: how far a reader has come in each log of an account. Bound by a keyed hash to the
 * account, and to one epoch of the data file: a restored backup may number other changes alike. Pure.
 */
import { timingSafeEqual } from 'node:crypto';
import { invalidField, Refusal } from '../common/fault.ts';

/** Numbers of the last event seen; 0: none. */
export interface EventPosition {
  readonly records: number;
  readonly backups: number;
  /** By vault. */
  readonly vaults: Readonly<Record<string, number>>;
}

export const EVENTS_START: EventPosition = { records: 0, backups: 0, vaults: {} };

interface CursorBinding {
  /** Direction of the walk that it continues. */
  readonly way: 'on' | 'back';
  readonly hash: (text: string) => string;
  readonly epoch: string;
  readonly accountId: string;
}

const FORMS = { on: 'e1', back: 'h1' } as const;
/** The argument that takes a cursor of each. */
const FIELDS = { on: 'after', back: 'cursor' } as const;
/** 96 bits in hex. */
const MAC_CHARS = 24;

export function formatEventCursor({ records, backups, vaults }: EventPosition, binding: CursorBinding): string {
  const payload = Buffer.from(JSON.stringify([binding.epoch, records, backups, vaults])).toString('base64url');
  return `${FORMS[binding.way]}.${payload}.${macOf(payload, binding)}`;
}

/** Throws Refusal `invalid_fields` (field `after` or `cursor`) for a foreign or forged cursor, and `events_gone` for an outdated one. */
export function readEventCursor(text: string, binding: CursorBinding): EventPosition {
  const [form, payload = '', mac = '', ...rest] = text.split('.');
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(payload, binding))];
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  if (form !== FORMS[binding.way] || rest.length > 0 || !isOurs) {
    const field = FIELDS[binding.way];
    const others = binding.way === 'on' ? 'now, or missing; for a time send since' : 'missing';
    throw invalidField(field, `${field} must be a cursor of an earlier answer for this account, or ${others}`);
  }
  const [epoch, records, backups, vaults] = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as [
    string,
    number,
    number,
    Record<string, number>,
  ];
  if (epoch !== binding.epoch && binding.way === 'back')
    throw invalidField('cursor', 'cursor is of before a restore of the hub; omit it for the newest changes');
  if (epoch !== binding.epoch) throw eventsGone('the hub was restored from a backup since this cursor was given');
  return { records, backups, vaults };
}

export function eventsGone(why: string): Refusal {
  const next = 'read the current state with lists or search, then continue with after=now';
  return new Refusal({ kind: 'events_gone', detail: `${why}; ${next}` });
}

function macOf(payload: string, { hash, accountId }: CursorBinding): string {
  return hash(`${accountId} ${payload}`).slice(0, MAC_CHARS);
}
