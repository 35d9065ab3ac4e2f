/** Owns how a caller's document or query becomes fields: every wrong field is reported at once. Pure. */
import { z } from 'zod';
import { type FieldErrors, refuseFields } from '../common/fault.ts';
import { bare, fieldErrors, OWN_WORDS } from './sentences.ts';

export interface Checked<S extends z.ZodType> {
  /** All fields, or the right ones if others are wrong. */
  readonly fields: Partial<z.output<S>>;
  /** Empty: nothing is wrong. */
  readonly errors: FieldErrors;
}

/** Reads any value, in whole or not at all. `whole`: what it is called itself. */
export function parse<S extends z.ZodType>(
  schema: S,
  given: unknown,
  whole: string,
): { readonly value: z.output<S> } | { readonly errors: FieldErrors } {
  const parsed = schema.safeParse(given, OWN_WORDS);
  return parsed.success ? { value: parsed.data } : { errors: fieldErrors(schema, parsed.error.issues, whole) };
}

/** Reads a value. `whole`: what it is called when it is not an object at all. */
export function checkFields<S extends z.ZodObject>(schema: S, given: unknown, whole = 'body'): Checked<S> {
  const parsed = parse(schema, given, whole);
  if ('value' in parsed) return { fields: parsed.value, errors: {} };
  return { fields: rightFields(schema, given) as Partial<z.output<S>>, errors: parsed.errors };
}

/** Reads a value. Refuses with `invalid_fields`. */
export function readFields<S extends z.ZodObject>(schema: S, given: unknown, whole = 'body'): z.output<S> {
  const { fields, errors } = checkFields(schema, given, whole);
  refuseFields(errors);
  return fields as z.output<S>;
}

/** Reads the parameters of a query. A number or a truth value is one by its schema; of repeated names the first counts. */
export function checkQuery<S extends z.ZodObject>(schema: S, query: URLSearchParams): Checked<S> {
  const names = [...new Set(query.keys())];
  return checkFields(
    schema,
    Object.fromEntries(names.map((name) => [name, typed(schema, name, query.get(name) ?? '')])),
  );
}

/** As `checkQuery`. Refuses with `invalid_fields`. */
export function readQuery<S extends z.ZodObject>(schema: S, query: URLSearchParams): z.output<S> {
  const { fields, errors } = checkQuery(schema, query);
  refuseFields(errors);
  return fields as z.output<S>;
}

/** The fields of a wrong document that are right by themselves, so that more can be said about them. */
function rightFields(schema: z.ZodObject, given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, field]) => {
      if (!Object.hasOwn(given, name)) return [];
      const parsed = z.safeParse(field, (given as Readonly<Record<string, unknown>>)[name]);
      return parsed.success ? [[name, parsed.data] as const] : [];
    }),
  );
}

/** A text of a query as its schema reads it; one that is no such number stays a text, which the schema refuses. */
function typed(schema: z.ZodObject, name: string, text: string): unknown {
  const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
  const kind = field === undefined ? undefined : bare(field).schema;
  if (kind instanceof z.ZodNumber) return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (kind instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text);
  return text;
}
