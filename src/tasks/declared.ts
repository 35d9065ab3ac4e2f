/** Declares the fields of tasks and categories. All that callers send, answers show and archives hold follows from it. */
import { z } from 'zod';
import { id } from '../archive/records.ts';
import { deletedAtField, maybeTimeField, numberField, signedField, timeField } from '../archive/usual-fields.ts';
import { categoryId, day, isWellFormed, printableName, visible, WELL_FORMED } from '../fields/kinds.ts';
import {
  decidedField,
  declareRecord,
  hubField,
  optionalField,
  type RecordOf,
  requiredField,
} from '../fields/record.ts';
import { limits } from '../limits/service.ts';

export const KANBAN_STATUSES = ['backlog', 'todo', 'in_progress', 'done'] as const;

export type KanbanStatus = (typeof KANBAN_STATUSES)[number];

const content = visible(
  z
    .string()
    .min(1)
    .max(limits.taskContentCharsMax)
    .refine((text) => text.trim() !== '', 'must not be empty')
    .refine(isWellFormed, WELL_FORMED)
    .describe('What to do'),
);

const taskFields = {
  id: numberField(7),
  content: requiredField(content, { example: 'Renew the certificate' }),
  due_date: optionalField(day.nullable().describe('Null: none'), {
    initial: null,
    says: 'YYYY-MM-DD',
    example: '2026-12-01',
  }),
  is_important: optionalField(z.boolean(), { initial: false, example: true }),
  completed: decidedField(z.boolean().describe('Same as kanban_status done'), {
    says: 'True exactly when kanban_status is done',
    example: false,
  }),
  completed_at: maybeTimeField,
  category_id: optionalField(categoryId.nullable().describe('See list_categories; null: none'), {
    initial: null,
    example: 2,
  }),
  kanban_status: decidedField(z.enum(KANBAN_STATUSES), { example: 'todo' }),
  /** From 1; rises by one with each change by a caller, but not when the category is deleted. */
  version: hubField(z.int().positive().describe('Rises with each change'), {
    // Archives of earlier versions have none.
    archived: () => id.default(1),
    example: 1,
  }),
  created_at: timeField,
  updated_at: timeField,
  changed_by: signedField,
  /** A deleted task is in no order and no counter. */
  deleted_at: deletedAtField,
};

export const declaredTask = declareRecord(taskFields);

export type TaskRecord = RecordOf<typeof taskFields>;

const COLOR = { error: 'must be # and six hex digits' };

const color = z
  .string(COLOR)
  .max(7)
  .regex(/^#[0-9a-fA-F]{6}$/)
  .toLowerCase();

const categoryFields = {
  /** Never reused. */
  id: numberField(2),
  name: requiredField(visible(printableName(limits.categoryNameCharsMax).describe('Unique, in any case')), {
    example: 'Operations',
  }),
  color: optionalField(color.nullable().describe('#rrggbb; null: none'), {
    initial: null,
    says: '#rrggbb',
    example: '#1f6feb',
  }),
  position: decidedField(z.int().min(0).max(limits.categoryPositionMax).describe('Place in the list, from 0'), {
    says: 'Place in the list',
    example: 0,
  }),
  created_at: timeField,
  updated_at: timeField,
};

export const declaredCategory = declareRecord(categoryFields);

export type CategoryRecord = RecordOf<typeof categoryFields>;
