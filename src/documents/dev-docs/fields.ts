/** Defines what callers send for a dev doc: a new one, a change, and what names it. */
import { z } from 'zod';
import { idFrom } from '../../fields/kinds.ts';
import { documentText, docVersion } from '../texts.ts';
import { CATEGORIES, declaredDoc } from './declared.ts';

const { title, category, content_type } = declaredDoc.inputs;
const NAMES = { title: true, category: true, content_type: true } as const;
const content = documentText.describe('At most 1 MiB');

/** Fields that identify a document: its id or its title. */
export const docReference = {
  id: idFrom('list_dev_docs').optional().describe('Instead of title'),
  title: title.optional().describe('Instead of id'),
  category: category.optional().describe('With title, if several have it'),
};

export const newDevDoc = z.strictObject({
  title: title.describe('Unique in its category'),
  content,
  category: category.optional().describe(`${CATEGORIES.join(', ')}, or your own; default docs`),
  content_type: content_type.optional().describe('Default: by the ending of the title'),
  ...declaredDoc.newInput.omit(NAMES).shape,
  create_category: z.boolean().optional().describe('Create your own category if missing'),
});

/** A partial change: without content the text stays. */
export const devDocChange = z.strictObject({
  ...docReference,
  new_title: title.optional(),
  new_category: category.optional(),
  content: content.optional(),
  mode: z.enum(['replace', 'append', 'prepend']).optional().describe('Default replace; no line break is added'),
  ...declaredDoc.changeInput.omit({ title: true, category: true }).shape,
  expected_version: docVersion.describe('Rejected if the version differs'),
  restore: z.boolean().optional(),
});

export type NewDevDoc = z.output<typeof newDevDoc>;
export type DevDocChange = z.output<typeof devDocChange>;
