/**
 * Repairs slips whose meaning is plain. Two are made by the program between a model and a tool, not by the model, and no
 * error can therefore correct them: every value sent as text, and null for every argument left out. The others are one
 * item where a list is expected or a list of one where an item is, and an empty text where null says none. Pure.
 */
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import { isRecord } from './is-record.ts';
import { bare } from './sentences.ts';

/**
 * Returns the arguments with such values as their schema expects them, or `given` itself when nothing can be repaired.
 * Only exact forms are repaired: `"5"`, `"#5"` as lists show it, `"true"`, the JSON of a list or an object, null where the argument may be
 * left out but not be null, and an empty text where it may be null; in the items of a list and the fields of an object too.
 */
export function withoutSlips(schema: z.ZodObject, given: unknown): unknown {
  const read = typeof given === 'string' ? parsed(given, isRecord) : given;
  if (!isRecord(read)) return given;
  const isFilled = isFilledWithNull(schema, read);
  const changed = Object.entries(read).flatMap(([name, value]) => {
    const field = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    if (field === undefined) return [];
    const repaired = isFilled && value === null && bare(field).isOptional ? undefined : repairedValue(field, value);
    return repaired === value ? [] : [[name, repaired] as const];
  });
  if (changed.length === 0) return read;
  return Object.fromEntries(
    Object.entries({ ...read, ...Object.fromEntries(changed) }).filter(([, value]) => value !== undefined),
  );
}

/** True when every argument that may be left out was sent, and one is null that cannot be: null then says nothing of the others. */
function isFilledWithNull({ shape }: z.ZodObject, given: Readonly<Record<string, unknown>>): boolean {
  if (!Object.values(given).includes(null)) return false;
  const optional = Object.entries(shape).filter(([, field]) => bare(field).isOptional);
  return (
    optional.every(([name]) => Object.hasOwn(given, name)) &&
    optional.some(([name, field]) => given[name] === null && !bare(field).isNullable)
  );
}

function repairedValue(field: z.core.$ZodType, value: unknown): unknown {
  const { schema, isNullable, isOptional } = bare(field);
  if (value === null) return isOptional && !isNullable ? undefined : value;
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const items = value.map((item: unknown) => repairedValue(schema.element, item));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (schema instanceof z.ZodObject && isRecord(value)) return withoutSlips(schema, value);
  if (schema instanceof z.ZodArray && isRecord(value)) return [repairedValue(schema.element, value)];
  if (Array.isArray(value) && value.length === 1 && SINGLE.some((kind) => schema instanceof kind))
    return repairedValue(field, value[0]);
  if (typeof value !== 'string') return value;
  if (value === '' && isNullable && isOptional) return z.safeParse(field, value).success ? value : null;
  if (schema instanceof z.ZodNumber) return /^[-#]?\d{1,15}$/.test(value) ? Number(value.replace('#', '')) : value;
  if (schema instanceof z.ZodBoolean) return /^true$/i.test(value) || (/^false$/i.test(value) ? false : value);
  const kind = schema instanceof z.ZodArray ? Array.isArray : isRecord;
  if (kind === isRecord && !(schema instanceof z.ZodObject || schema instanceof z.ZodRecord)) return value;
  const read = parsed(value, kind);
  if (read !== value) return repairedValue(field, read);
  return schema instanceof z.ZodArray &&
    bare(schema.element).schema instanceof z.ZodString &&
    value !== '' &&
    !JSON_START.test(value)
    ? [value]
    : value;
}

/** What holds one value. */
const SINGLE = [z.ZodString, z.ZodEnum, z.ZodNumber, z.ZodBoolean];
const JSON_START = /^\s*[[{]/;

/** Returns the value of a JSON text if it has the kind, else the text itself. */
function parsed(text: string, isKind: (value: unknown) => boolean): unknown {
  if (text.length > limits.parseInlineBytesMax || !JSON_START.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return isKind(value) ? value : text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
