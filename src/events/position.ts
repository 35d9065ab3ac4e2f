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
  readonly hash: (text: string) => string;
  readonly epoch: string;
  readonly accountId: string;
}

const FORM = 'e1';
/** 96 bits in hex. */
const MAC_CHARS = 24;

export function formatEventCursor({ records, backups, vaults }: EventPosition, binding: CursorBinding): string {
  const payload = Buffer.from(JSON.stringify([binding.epoch, records, backups, vaults])).toString('base64url');
  return `${FORM}.${payload}.${macOf(payload, binding)}`;
}

/** Throws Refusal `invalid_fields` (field `after`) for a foreign or forged cursor, and `events_gone` for an outdated one. */
export function readEventCursor(text: string, binding: CursorBinding): EventPosition {
  const [form, payload = '', mac = '', ...rest] = text.split('.');
  const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(payload, binding))];
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  if (form !== FORM || rest.length > 0 || !isOurs) {
    throw invalidField('after', 'after must be a cursor of an earlier answer for this account, or now, or missing');
  }
  const [epoch, records, backups, vaults] = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as [
    string,
    number,
    number,
    Record<string, number>,
  ];
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
