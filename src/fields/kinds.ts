/**
 * Defines kinds of fields shared by several capabilities. Their messages are predicates that follow the name of the
 * field.
 */
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import { hasInk } from '../text/visible.ts';
import { isCalendarDate } from '../time/calendar.ts';
import { isTimeZone, zoneNameOf } from '../time/zone.ts';

/** An integer counted from 1: an id, a version. */
export const counted = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

/** Predicate of the id of a category of tasks and papers. */
export const ONE_OF_CATEGORIES = 'must be the id of one of your categories (see list_categories)';

/** The id of a category of tasks and papers. */
export const categoryId = z
  .int({ error: ONE_OF_CATEGORIES })
  .min(1, ONE_OF_CATEGORIES)
  .max(Number.MAX_SAFE_INTEGER, ONE_OF_CATEGORIES);

/** The id of something that a tool lists. */
export const idFrom = (tool: string) =>
  z
    .int({ error: `must be a number returned by ${tool}` })
    .min(1)
    .max(Number.MAX_SAFE_INTEGER);

const DAY = { error: 'must be a date like 2026-11-21' };

/** A date that exists in the calendar. */
export const day = z.string(DAY).length(10).refine(isCalendarDate).meta({ format: 'date' });

/** An IANA time zone name. */
export const timeZone = z
  .string()
  .max(limits.timeZoneCharsMax)
  .refine(isTimeZone, 'must be an IANA name such as Europe/Berlin or Asia/Seoul')
  .overwrite(zoneNameOf);

/** True when a text has no lone surrogates, which UTF-8 cannot encode. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

export const WELL_FORMED = 'must be well-formed Unicode';

/** A name on one line: trimmed, in Unicode form NFC, of printable characters. It can be part of a key. */
export function printableName(charsMax: number) {
  return z
    .string()
    .trim()
    .normalize('NFC')
    .min(1)
    .max(charsMax)
    .refine((name) => !/\p{Cc}|\p{Cs}|\u{10ffff}/u.test(name), 'must have only printable characters');
}

/** Looser forms of inputs that refuse what earlier versions stored. */
const stored = new WeakMap<z.ZodType, z.ZodType>();

/** Refuses a text that shows nothing, such as one of zero-width characters. Archives have those that were stored before. */
export function visible(text: z.ZodString): z.ZodString {
  // What has another fault is told only that.
  const strict = text.refine(hasInk, { error: 'must not be empty', when: ({ issues }) => issues.length === 0 });
  stored.set(strict, text);
  return strict;
}

/** What archives may have of an input. */
export function asStored(input: z.ZodType): z.ZodType {
  return stored.get(input) ?? input;
}

/** Who changed a record, in an answer. */
export const changedByField = z.string().optional().describe('Key, device, app or browser that made the latest change');

/** Parses an id in a path. Undefined when it cannot be an id. */
export function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
