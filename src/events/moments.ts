/** The times that callers send with a question about what happened. */
import { z } from 'zod';
import { invalidField } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import { MOMENT_FORMS, type MomentContext, readMoment } from '../time/moment.ts';

/** What such a time may be, in short. */
export const MOMENT_ABOUT = 'ISO 8601 with a zone, a day, or 2h, 7d ago';

export const momentField = z.string().max(limits.isoTimeCharsMax).optional();

/** A time in milliseconds; undefined: not sent. An end that is a day lasts to its end. Throws Refusal `invalid_fields`. */
export function momentOf(
  name: string,
  text: string | undefined,
  asked: Omit<MomentContext, 'day'>,
): number | undefined {
  if (text === undefined) return undefined;
  const ms = readMoment(text, { ...asked, day: name === 'until' ? 'last' : 'first' });
  if (ms === undefined) throw invalidField(name, `${name} ${MOMENT_FORMS}`);
  return ms;
}
