/** Defines the public form of a dev doc and its schemas. */
import { z } from 'zod';
import { changedByField } from '../../fields/kinds.ts';
import { CONTENT_TYPES, type DevDocRecord } from './records.ts';

/** A document without its content. */
export const docSchema = z.object({
  id: z.int().positive().describe('Counted per account'),
  title: z.string(),
  category: z.string(),
  content_type: z.enum(CONTENT_TYPES),
  version: z.int().positive().describe('Rises with each change of the content'),
  size_bytes: z.int().nonnegative().describe('Of the content in UTF-8'),
  created_at: z.string().describe('ISO 8601 UTC'),
  updated_at: z.string().describe('ISO 8601 UTC'),
  changed_by: changedByField,
});

/** A document in a pull. */
export const pulledDocSchema = docSchema.extend({ type: z.literal('doc'), content: z.string() });

export const deletedDocSchema = z.object({
  type: z.literal('deleted'),
  id: z.int().positive(),
  title: z.string(),
  category: z.string(),
  deleted_at: z.string().describe('ISO 8601 UTC'),
});

export function docView(doc: DevDocRecord): z.infer<typeof docSchema> {
  const { json_bytes: _json, changed_ms: _changed, deleted_at: _deleted, ...view } = doc;
  return view;
}
