/** Validates a value from outside that can be an object where a text or a list is expected. Pure. */
import { z } from 'zod';
import { readerOf, UNREAD } from './compiled.ts';

/** What was found wrong, as a value: zod's own error records a stack for each. */
class Found {
  readonly issues: readonly z.core.$ZodIssue[];

  constructor(issues: readonly z.core.$ZodIssue[]) {
    this.issues = issues;
  }
}

/** A value as its schema gives it, or what is wrong with it. */
export type Safely<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly error: Pick<Found, 'issues'> };

const parseSafely = z.core._safeParse(Found as unknown as z.core.$ZodErrorClass);

/** What the length checks of zod compare, also in an object that has a field of that name. */
const COMPARED: readonly string[] = ['length', 'size'];

/**
 * As zod's `safeParse`, which throws a TypeError for `{ "length": { "toString": 1 } }`: its length checks run after a
 * failed type check, and no operator can compare such an object.
 */
export function safely<S extends z.ZodType>(
  schema: S,
  given: unknown,
  words?: Parameters<S['safeParse']>[1],
): Safely<z.output<S>> {
  try {
    const data = readerOf(schema)(given);
    return data === UNREAD ? parseSafely(schema, given, words) : { success: true, data: data as z.output<S> };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return parseSafely(schema, comparable(given), words);
  }
}

/** A copy in which objects are without those fields. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name, field]) => !(COMPARED.includes(name) && isObject(field)));
  return Object.fromEntries(fields.map(([name, field]) => [name, comparable(field)]));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
