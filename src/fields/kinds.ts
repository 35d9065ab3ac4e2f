/** Owns the kinds of fields that several capabilities have. Their messages are predicates: the field's name goes before. */
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import { isCalendarDate } from '../time/calendar.ts';
import { isTimeZone } from '../time/zone.ts';

/** A whole number that is counted from 1: an id, a version. */
export const counted = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

const DAY = { error: 'must be a date like 2026-11-21' };

/** A day that the calendar has. */
export const day = z.string(DAY).length(10).refine(isCalendarDate).meta({ format: 'date' });

/** An IANA time zone by its name. */
export const timeZone = z
  .string()
  .max(limits.timeZoneCharsMax)
  .refine(isTimeZone, 'must be an IANA name such as Europe/Berlin or Asia/Seoul');

/** True without lone surrogates, which UTF-8 cannot hold. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

export const WELL_FORMED = 'must be well-formed Unicode';

/** A name on one line: trimmed, in Unicode form NFC, of printable characters; it can be a part of a key. */
export function printableName(charsMax: number) {
  return z
    .string()
    .trim()
    .normalize('NFC')
    .min(1)
    .max(charsMax)
    .refine((name) => !/\p{Cc}|\p{Cs}|\u{10ffff}/u.test(name), 'must have only printable characters');
}

/** An id in a path; undefined: it cannot be one of ours. */
export function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
