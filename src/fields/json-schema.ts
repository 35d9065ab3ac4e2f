/** Owns how a zod schema is shown to others: JSON Schema 2020-12, the dialect of OpenAPI 3.1 and of MCP alike. */
import { z } from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** @param io whether the schema is of what is accepted or of what is answered */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema: made }) {
      // The pattern of a date-time is 250 characters that say what `format` says.
      if (made.format !== undefined) delete made.pattern;
    },
  });
  return rest;
}
