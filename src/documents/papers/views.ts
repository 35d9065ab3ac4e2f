/** Defines the public form of a paper and its schemas. */
import { z } from 'zod';
import { changedByField } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import type { ShownPaper } from './service.ts';

const at = z.string().describe('ISO 8601 UTC');

/** A paper without its content. */
export const paperSchema = z.object({
  id: z.int().positive().describe('Counted per account'),
  title: z.string(),
  category_id: z.int().positive().nullable(),
  published: z.boolean().describe('False: a draft'),
  published_at: z.string().nullable().describe('Time of publication, ISO 8601 UTC'),
  version: z.int().positive().describe('Rises with each change of the content'),
  size_bytes: z.int().nonnegative().describe('Of the content in UTF-8'),
  created_at: at,
  updated_at: at,
  changed_by: changedByField,
});

export const paperWithContent = paperSchema.extend({
  content: z.string().describe('Markdown, at most 1 MiB in UTF-8'),
});

/** A paper in a list. */
export const listedPaper = paperSchema.extend({ content: z.string().optional().describe('With include_content') });

/** A page of papers as REST returns it. */
export const paperPageSchema = z.object({
  data: z.array(listedPaper.meta({ title: 'ListedPaper' })),
  meta: z.object({
    limit: z.int().min(1).max(limits.paperPageMax),
    has_more: z.boolean(),
    cursor: z.string().nullable().describe('For the next page; null: last page'),
  }),
});

/** Returns a paper as REST and the tools show it, with its content if requested. */
export function paperView({ paper, content }: ShownPaper) {
  const { id, title, ...rest } = factsOf({ paper, content: undefined });
  return { id, title, ...(content === undefined ? {} : { content }), ...rest };
}

/** Returns a paper without its content. */
export function factsOf({ paper }: ShownPaper): z.infer<typeof paperSchema> {
  const { json_bytes: _json, deleted_at: _deleted, ...facts } = paper;
  return facts;
}
