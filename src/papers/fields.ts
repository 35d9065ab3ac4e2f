/** Owns what callers write and ask of papers. */
import { z } from 'zod';
import { counted, printableName } from '../fields/kinds.ts';
import { limits } from '../limits/service.ts';
import { documentText } from '../versions/texts.ts';

const title = printableName(limits.documentTitleCharsMax).describe('Printable; need not be unique');

export const newPaper = z.strictObject({
  title,
  content: documentText.optional().describe('Markdown, at most 1 MiB in UTF-8'),
  category_id: counted.nullable().optional().describe('One of /api/categories, or null for none'),
  published: z.boolean().optional().describe('false: a draft'),
});

/** A partial write: an absent field stays as it is. */
export const paperChange = newPaper.extend({
  title: title.optional(),
  expected_version: counted.optional().describe('409 when the paper is at another version'),
  restore: z.boolean().optional().describe('True: takes the paper out of the bin'),
});

export type PaperFields = z.output<typeof paperChange>;

export const publication = z.strictObject({ published: z.boolean() });

/** The query of the list. */
export const pageQuery = z.strictObject({
  include_content: z.boolean().default(false).describe('With contents; a large page then ends early'),
  published: z.boolean().optional().describe('Only published papers, or only drafts'),
  category_id: counted.optional().describe('Only papers of this category'),
  limit: z.int().min(1).max(limits.paperPageMax).default(limits.paperPageDefault).describe('Papers on a page'),
  cursor: z
    .string()
    .max(limits.cursorCharsMax)
    .regex(/^[1-9]\d{0,14}$/, 'must be one that this list gave; leave it out to begin again')
    .transform(Number)
    .optional()
    .describe('Where an earlier page ended'),
});

export type PaperQuery = z.output<typeof pageQuery>;
