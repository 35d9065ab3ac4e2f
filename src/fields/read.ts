/** Validates a caller's document or query. Reports every invalid field at once. Pure. */
import { z } from 'zod';
import { type FieldErrors, Refusal, refuseFields } from '../common/fault.ts';
import { safely } from './safely.ts';
import { bare, fieldErrors, OWN_WORDS } from './sentences.ts';

export interface Checked<S extends z.ZodType> {
  /** All fields, or only the valid ones if others are invalid. */
  readonly fields: Partial<z.output<S>>;
  /** Empty when everything is valid. */
  readonly errors: FieldErrors;
}

/** Validates any value, as a whole or not at all. `whole`: name of the value itself in errors. `isOnce`: compiles no code for it. */
export function parse<S extends z.ZodType>(
  schema: S,
  given: unknown,
  whole: string,
  isOnce = false,
): { readonly value: z.output<S> } | { readonly errors: FieldErrors } {
  const parsed = safely(schema, given, isOnce ? { ...OWN_WORDS, jitless: true } : OWN_WORDS);
  return parsed.success ? { value: parsed.data } : { errors: fieldErrors(schema, parsed.error.issues, whole) };
}

/** Validates an object. `whole`: its name in errors when it is not an object at all. */
export function checkFields<S extends z.ZodObject>(schema: S, given: unknown, whole = 'body'): Checked<S> {
  const parsed = parse(schema, given, whole);
  if ('value' in parsed) return { fields: parsed.value, errors: {} };
  return { fields: rightFields(schema, given) as Partial<z.output<S>>, errors: parsed.errors };
}

/** As `checkFields`. Throws Refusal `invalid_fields`. */
export function readFields<S extends z.ZodObject>(schema: S, given: unknown, whole = 'body'): z.output<S> {
  const parsed = parse(schema, given, whole);
  if ('value' in parsed) return parsed.value;
  throw new Refusal({ kind: 'invalid_fields', fields: parsed.errors });
}

/**
 * Validates the parameters of a query. The schema decides which are numbers or booleans. The first of repeated names
 * counts.
 */
export function checkQuery<S extends z.ZodObject>(schema: S, query: URLSearchParams): Checked<S> {
  const names = [...new Set(query.keys())];
  return checkFields(
    schema,
    Object.fromEntries(names.map((name) => [name, typed(schema, name, query.get(name) ?? '')])),
  );
}

/** As `checkQuery`. Throws Refusal `invalid_fields`. */
export function readQuery<S extends z.ZodObject>(schema: S, query: URLSearchParams): z.output<S> {
  const { fields, errors } = checkQuery(schema, query);
  refuseFields(errors);
  return fields as z.output<S>;
}

/** Returns the valid fields of an invalid document, so that further checks can report more errors. */
function rightFields(schema: z.ZodObject, given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, field]) => {
      if (!Object.hasOwn(given, name)) return [];
      const parsed = safely(field as z.ZodType, (given as Readonly<Record<string, unknown>>)[name]);
      return parsed.success ? [[name, parsed.data] as const] : [];
    }),
  );
}

/** Converts a query value to the type in its schema. A value of another type remains text, which the schema rejects. */
function typed(schema: z.ZodObject, name: string, text: string): unknown {
  const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
  const kind = field === undefined ? undefined : bare(field).schema;
  if (kind instanceof z.ZodNumber) return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (kind instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text);
  return text;
}
