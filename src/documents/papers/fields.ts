/** Defines the fields that callers write and query in papers. */
import { z } from 'zod';
import { expectedVersion } from '../../fields/expected-version.ts';
import { categoryId, printableName } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import { documentText } from '../texts.ts';

const title = printableName(limits.documentTitleCharsMax).describe('Need not be unique');

export const newPaper = z.strictObject({
  title,
  content: documentText.optional().describe('Markdown, at most 1 MiB'),
  category_id: categoryId.nullable().optional().describe('See list_categories; null: none'),
  published: z.boolean().optional().describe('False: a draft'),
});

/** A partial update: an absent field is unchanged. */
export const paperChange = newPaper.extend({
  title: title.optional(),
  expected_version: expectedVersion,
  restore: z.boolean().optional().describe('Brings it back from the trash'),
});

export type PaperFields = z.output<typeof paperChange>;

export const publication = z.strictObject({ published: z.boolean() });

/** Query parameters of the list. */
export const pageQuery = z.strictObject({
  include_content: z.boolean().default(false).describe('Large pages then end early'),
  published: z.boolean().optional().describe('False: only drafts'),
  category_id: categoryId.optional().describe('See list_categories'),
  limit: z.int().min(1).max(limits.paperPageMax).default(limits.paperPageDefault).describe('Papers in one answer'),
  cursor: z
    .string()
    .max(limits.cursorCharsMax)
    .regex(/^[1-9]\d{0,14}$/, 'must come from an earlier answer of this list; omit it for the first page')
    .transform(Number)
    .optional()
    .describe('From an earlier answer'),
});

export type PaperQuery = z.output<typeof pageQuery>;
