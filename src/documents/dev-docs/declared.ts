/** Declares the fields of dev docs. All that answers show and archives hold follows from it. */
import { z } from 'zod';
import { deletedAtField, numberField, signedField, timeField } from '../../archive/usual-fields.ts';
import { printableName, visible } from '../../fields/kinds.ts';
import { computedField, decidedField, declareRecord, type RecordOf, requiredField } from '../../fields/record.ts';
import { limits } from '../../limits/service.ts';
import { textFields } from '../kind.ts';

/** Built-in categories of every account. An account's own categories are those named by its documents. */
export const CATEGORIES = [
  'claude',
  'cursor',
  'windsurf',
  'copilot',
  'docs',
  'skills',
  'agents',
  'commands',
  'hooks',
  'mcp',
] as const;

const CONTENT_TYPES = ['markdown', 'json', 'yaml', 'text'] as const;

export type ContentType = (typeof CONTENT_TYPES)[number];

const devDocFields = {
  id: numberField(1),
  /** Unique within its category, ignoring case. */
  title: requiredField(visible(printableName(limits.documentTitleCharsMax)), { example: 'CLAUDE.md' }),
  category: decidedField(visible(printableName(limits.devDocCategoryCharsMax).toLowerCase()), { example: 'claude' }),
  content_type: decidedField(z.enum(CONTENT_TYPES), { example: 'markdown' }),
  ...textFields('Rises with each change of the content', 32),
  created_at: timeField,
  updated_at: timeField,
  /** Time of the last change of any kind, which is its position in the order of changes; `changed_at` in an archive. */
  changed_ms: computedField<number>(),
  deleted_at: deletedAtField,
  changed_by: signedField,
};

export const declaredDoc = declareRecord(devDocFields);

/** Fields that have no words and no control of their own. */
export const otherDocInputs = declaredDoc.inputsBeside(['title', 'category', 'content_type']);

/** A dev doc without its text. */
export type DevDocRecord = RecordOf<typeof devDocFields>;
