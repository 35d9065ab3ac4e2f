/** Defines the public form of tasks and categories, and their schemas. */
import { z } from 'zod';
import { limits } from '../limits/service.ts';
import type { Category } from './categories.ts';
import { declaredCategory, declaredTask } from './declared.ts';

export const taskSchema = declaredTask.shown;

export const categorySchema = declaredCategory.shown.extend({
  task_count: z.int().nonnegative().describe('Tasks in it, without the trash'),
});

const whole = z.int().nonnegative();

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

export const taskView = declaredTask.show;

export function categoryView(category: Category): z.infer<typeof categorySchema> {
  return { ...category };
}
