/**
 * Reads valid values as their zod schemas do, in less time: zod prepares an answer for each field of an object, absent ones
 * too. Whatever is invalid, or unusual, is left to zod, which alone says what is wrong. Pure.
 */
import type { z } from 'zod';

/** The value is not read here: it may be invalid. */
export const UNREAD = Symbol('unread');

/** Returns the value as its schema gives it, or UNREAD. */
type Read = (value: unknown) => unknown;

type Schema = z.core.$ZodType & z.core.$ZodTypes;

interface Field {
  readonly name: string;
  readonly read: Read;
  /** What an absent field means: nothing, a value that the schema supplies, or an invalid object. */
  readonly absent: 'nothing' | 'supplied' | 'invalid';
}

const CONTEXT: z.core.ParseContextInternal = { async: false };

const readers = new WeakMap<z.core.$ZodType, Read>();

/** The reader of a schema, made once. */
export function readerOf(schema: z.core.$ZodType): Read {
  const known = readers.get(schema);
  if (known !== undefined) return known;
  // Until it is made, for a schema that contains itself.
  readers.set(schema, (value) => readByZod(schema, value));
  const made = compiled(schema as Schema);
  readers.set(schema, made);
  return made;
}

function compiled(schema: Schema): Read {
  const { def, traits } = schema._zod;
  const given = (def.checks ?? []) as readonly z.core.$ZodCheck<never>[];
  // A format, as that of a date, is a check of itself.
  const checks = traits.has('$ZodCheck') ? [schema as unknown as z.core.$ZodCheck<never>, ...given] : given;
  if (def.type === 'object') return objectReader(schema, def);
  const isCoerced = 'coerce' in def && def.coerce === true;
  if (def.type === 'string' && !isCoerced)
    return (value) => (typeof value === 'string' ? checked(value, checks) : UNREAD);
  if (checks.length > 0) return (value) => readByZod(schema, value);
  switch (def.type) {
    case 'optional': {
      const inner = readerOf(def.innerType);
      // A default within it supplies a value; an exact one is either absent or not undefined.
      if (def.innerType._zod.optin === 'defaulted' || traits.has('$ZodExactOptional')) break;
      return (value) => (value === undefined ? undefined : inner(value));
    }
    case 'nullable': {
      const inner = readerOf(def.innerType);
      return (value) => (value === null ? null : inner(value));
    }
    case 'enum':
    case 'literal': {
      const { values } = schema._zod as { readonly values?: ReadonlySet<unknown> };
      if (values === undefined) break;
      return (value) => (values.has(value) ? value : UNREAD);
    }
    case 'boolean':
      if (isCoerced) break;
      return (value) => (typeof value === 'boolean' ? value : UNREAD);
    default:
  }
  return (value) => readByZod(schema, value);
}

function objectReader(schema: Schema, def: z.core.$ZodObjectDef): Read {
  const { catchall, checks = [] } = def;
  // Members that are not declared and have a schema: rare.
  if (catchall !== undefined && catchall._zod.def.type !== 'never') return (value) => readByZod(schema, value);
  const fields = Object.entries(def.shape).map(
    ([name, field]): Field => ({
      name,
      read: readerOf(field),
      absent: absentOf(field),
    }),
  );
  const names = new Set(Object.keys(def.shape));
  const isStrict = catchall !== undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return UNREAD;
    if (isStrict) for (const name in value) if (!names.has(name)) return UNREAD;
    const given = value as Readonly<Record<string, unknown>>;
    const result: Record<string, unknown> = {};
    for (const { name, read, absent } of fields) {
      const isAbsent = !(name in given);
      if (isAbsent && absent === 'nothing') continue;
      const found = isAbsent && absent === 'invalid' ? UNREAD : read(given[name]);
      if (found === UNREAD) return UNREAD;
      if (isAbsent && found === undefined) continue;
      result[name] = found;
    }
    return checked(result, checks);
  };
}

function absentOf({ _zod: { optin, optout } }: z.core.$ZodType): Field['absent'] {
  if (optin === undefined) return 'invalid';
  return optin === 'optional' && optout === 'optional' ? 'nothing' : 'supplied';
}

/** Runs the checks of a schema on a value of its type. */
function checked(value: unknown, checks: readonly z.core.$ZodCheck<never>[]): unknown {
  if (checks.length === 0) return value;
  const payload = { value, issues: [] as z.core.$ZodRawIssue[] };
  for (const { _zod: check } of checks) {
    if (check.def.when?.(payload) === false) continue;
    const pending = check.check(payload as never);
    if (pending instanceof Promise || payload.issues.length > 0) return UNREAD;
  }
  return payload.value;
}

/** As zod reads it. */
function readByZod(schema: z.core.$ZodType, value: unknown): unknown {
  const read = schema._zod.run({ value, issues: [] }, CONTEXT);
  return read instanceof Promise || read.issues.length > 0 ? UNREAD : read.value;
}
