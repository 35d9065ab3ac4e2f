/** Converts a zod schema to JSON Schema 2020-12, the dialect of both OpenAPI 3.1 and MCP. */
import { z } from 'zod';
import { isRecord } from './is-record.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** @param io whether the schema describes accepted input or returned output */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema: made }) {
      // The pattern of a date-time repeats in 250 characters what `format` says.
      if (made.format !== undefined) delete made.pattern;
      foldNull(made);
    },
  });
  return rest;
}

/** Writes "this or null" as a list of types, which is shorter than two schemas. */
function foldNull(schema: z.core.JSONSchema.BaseSchema): void {
  const [value, none, ...more] = (schema.anyOf ?? []) as z.core.JSONSchema.BaseSchema[];
  if (more.length > 0 || none?.type !== 'null' || typeof value?.type !== 'string' || value.enum !== undefined) return;
  const { type, ...rest } = value;
  delete schema.anyOf;
  Object.assign(schema, rest, schema, { type: [type, 'null'] });
}

/** Keywords that only limit a value. A value beyond the limit is rejected with an error that names it. */
const BOUNDS = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'exclusiveMinimum', 'pattern']);

/**
 * Returns the schema for a list of tools, without keywords that only limit a value: an agent reads the whole list
 * before its first call.
 */
export function withoutBounds(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !isBound(keyword, value))
      .map(([keyword, value]) => [keyword, Array.isArray(value) ? value.map(inner) : inner(value)]),
  );
}

/** True for a keyword that only limits a value. A property can have the same name; its value is then a schema. */
function isBound(keyword: string, value: unknown): boolean {
  if (typeof value === 'object') return keyword === 'additionalProperties' && Object.keys(value ?? {}).length === 0;
  return (
    BOUNDS.has(keyword) || value === Number.MAX_SAFE_INTEGER || (keyword === 'additionalProperties' && value === false)
  );
}

function inner(value: unknown): unknown {
  return isRecord(value) ? withoutBounds(value) : value;
}
