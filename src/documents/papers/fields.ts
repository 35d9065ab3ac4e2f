/** Defines what callers send for papers besides the fields of their records: the content, and queries. */
import { z } from 'zod';
import { expectedVersion } from '../../fields/expected-version.ts';
import { categoryId } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import { documentText } from '../texts.ts';
import { declaredPaper } from './declared.ts';

const content = documentText.optional().describe('Markdown, at most 1 MiB');

/** The content follows the title, as in answers. */
const withContent = <T, F extends object>({ title, ...others }: { title: T } & F) => ({ title, content, ...others });

export const newPaper = z.strictObject(withContent(declaredPaper.newInput.shape));

/** A partial update: an absent field is unchanged. */
export const paperChange = z.strictObject({
  ...withContent(declaredPaper.changeInput.shape),
  expected_version: expectedVersion,
  restore: z.boolean().optional().describe('Brings it back from the trash'),
});

export type NewPaper = z.output<typeof newPaper>;
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
