/** Defines the public form of a dev doc and its schemas. */
import { z } from 'zod';
import type { Version } from '../versions/texts.ts';
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

export const versionSchema = z.object({
  version: z.int().positive(),
  size_bytes: z.int().nonnegative(),
  created_at: z.string().describe('ISO 8601 UTC'),
});

export function docView({ id, title, category, content_type, ...rest }: DevDocRecord): z.infer<typeof docSchema> {
  const { version, size_bytes, created_at, updated_at } = rest;
  return { id, title, category, content_type, version, size_bytes, created_at, updated_at };
}

export function versionView({ version, size_bytes, created_at }: Version): z.infer<typeof versionSchema> {
  return { version, size_bytes, created_at };
}
