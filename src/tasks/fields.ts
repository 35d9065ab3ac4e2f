/** Declares the input fields of tasks and categories, shared by tools, REST and pages. */
import { z } from 'zod';
import { expectedVersion } from '../fields/expected-version.ts';
import { categoryId, day, isWellFormed, printableName, WELL_FORMED } from '../fields/kinds.ts';
import { limits } from '../limits/service.ts';
import { KANBAN_STATUSES } from './records.ts';

const content = z
  .string()
  .min(1)
  .max(limits.taskContentCharsMax)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine(isWellFormed, WELL_FORMED)
  .describe('What to do');

export const newTask = z.strictObject({
  content,
  due_date: day.nullable().optional().describe('Null: none'),
  is_important: z.boolean().optional(),
  completed: z.boolean().optional().describe('Same as kanban_status done'),
  category_id: categoryId.nullable().optional().describe('See list_categories; null: none'),
  kanban_status: z.enum(KANBAN_STATUSES).optional(),
});

/** A partial update: an absent field keeps its value. */
export const taskChange = newTask.extend({ content: content.optional(), expected_version: expectedVersion });

export type TaskFields = z.output<typeof taskChange>;

const COLOR = { error: 'must be # and six hex digits' };

export const newCategory = z.strictObject({
  name: printableName(limits.categoryNameCharsMax).describe('Unique, in any case'),
  color: z
    .string(COLOR)
    .max(7)
    .regex(/^#[0-9a-fA-F]{6}$/)
    .toLowerCase()
    .nullable()
    .optional()
    .describe('#rrggbb; null: none'),
  position: z.int().min(0).max(limits.categoryPositionMax).optional().describe('Place in the list, from 0'),
});

/** A partial update. */
export const categoryChange = newCategory.extend({ name: newCategory.shape.name.optional() });

export type CategoryFields = z.output<typeof categoryChange>;
