/** Validates a value from outside that can be an object where a text or a list is expected. Pure. */
import type { z } from 'zod';

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
): z.ZodSafeParseResult<z.output<S>> {
  try {
    return schema.safeParse(given, words);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return schema.safeParse(comparable(given), words);
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
