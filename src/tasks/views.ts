/** Defines the public form of tasks and categories, and their schemas. */
import { z } from 'zod';
import { changedByField } from '../fields/kinds.ts';
import { limits } from '../limits/service.ts';
import type { Category } from './categories.ts';
import { KANBAN_STATUSES, type TaskRecord } from './records.ts';

/** A task in the responses of MCP and REST. */
export const taskSchema = z.object({
  id: z.int().positive().describe('Counted per account'),
  content: z.string(),
  due_date: z.string().nullable().describe('YYYY-MM-DD'),
  is_important: z.boolean(),
  completed: z.boolean().describe('True exactly when kanban_status is done'),
  completed_at: z.string().nullable().describe('ISO 8601 UTC'),
  category_id: z.int().positive().nullable(),
  kanban_status: z.enum(KANBAN_STATUSES),
  version: z.int().positive().describe('Rises with each change'),
  created_at: z.string().describe('ISO 8601 UTC'),
  updated_at: z.string().describe('ISO 8601 UTC'),
  changed_by: changedByField,
});

/** A category in the responses of MCP and REST. */
export const categorySchema = z.object({
  id: z.int().positive().describe('Counted per account'),
  name: z.string(),
  color: z.string().nullable().describe('#rrggbb'),
  position: z.int().nonnegative().describe('Place in the list'),
  task_count: z.int().nonnegative().describe('Tasks in it, without the trash'),
  created_at: z.string().describe('ISO 8601 UTC'),
  updated_at: z.string().describe('ISO 8601 UTC'),
});

const whole = z.int().nonnegative();

/** A page of tasks in a REST response. */
export const taskPageSchema = z.object({
  data: z.array(taskSchema.meta({ title: 'Task' })),
  meta: z.object({
    page: z.int().min(1),
    per_page: z.int().min(1).max(limits.taskPageMax),
    total: whole.describe('Tasks that match on all pages'),
    total_pages: whole,
  }),
});

export const categoryListSchema = z.object({ data: z.array(categorySchema.meta({ title: 'Category' })) });

export function taskView(task: TaskRecord): z.infer<typeof taskSchema> {
  const { deleted_at: _, ...view } = task;
  return view;
}

export function categoryView(category: Category): z.infer<typeof categorySchema> {
  return { ...category };
}
