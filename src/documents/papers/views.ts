/** Defines the public form of a paper and its schemas. */
import { z } from 'zod';
import { limits } from '../../limits/service.ts';
import { declaredPaper } from './declared.ts';
import type { ShownPaper } from './service.ts';

/** A paper without its content. */
export const paperSchema = declaredPaper.shown;

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
  return declaredPaper.show(paper);
}
