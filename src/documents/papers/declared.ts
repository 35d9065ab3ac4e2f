/** Declares the fields of papers. All that callers send, answers show and archives hold follows from it. */
import { z } from 'zod';
import { deletedAtField, numberField, signedField, timeField } from '../../archive/usual-fields.ts';
import { categoryId, printableName, visible } from '../../fields/kinds.ts';
import { declareRecord, hubField, optionalField, type RecordOf, requiredField } from '../../fields/record.ts';
import { limits } from '../../limits/service.ts';
import { textFields } from '../kind.ts';

const paperFields = {
  id: numberField(3),
  title: requiredField(visible(printableName(limits.documentTitleCharsMax).describe('Need not be unique')), {
    example: 'On cairns',
  }),
  /** A category of the account. A deleted category is shown as null. */
  category_id: optionalField(categoryId.nullable().describe('See list_categories; null: none'), {
    initial: null,
    example: null,
  }),
  published: optionalField(z.boolean().describe('False: a draft'), {
    initial: false,
    says: 'False: a draft',
    example: false,
  }),
  /** Null for a draft. */
  published_at: hubField(z.string().nullable().describe('Time of publication, ISO 8601 UTC'), {
    archived: (instant) => instant.nullable(),
    example: null,
  }),
  ...textFields('Rises with each change of the content', 32),
  created_at: timeField,
  updated_at: timeField,
  deleted_at: deletedAtField,
  changed_by: signedField,
};

export const declaredPaper = declareRecord(paperFields);

/** Fields that have no words and no control of their own. */
export const otherPaperInputs = declaredPaper.inputsBeside(['title', 'category_id', 'published']);

/** A paper without its text. */
export type PaperRecord = RecordOf<typeof paperFields>;
