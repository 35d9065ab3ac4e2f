/** Defines the tools for categories, shared by tasks and papers. */
import { z } from 'zod';
import { idFrom } from '../fields/kinds.ts';
import { notesOf } from '../fields/record.ts';
import { ADDS, DESTROYS, defineTool, READS, SETS, type Tool } from '../gateway/tool.ts';
import { headed, plural } from '../gateway/words.ts';
import { limits } from '../limits/service.ts';
import type { Category } from './categories.ts';
import { declaredCategory } from './declared.ts';
import { categoryChangeOrRestore, newCategory } from './fields.ts';
import { taskTables } from './records.ts';
import type { Tasks } from './service.ts';
import { categorySchema, categoryView } from './views.ts';

const categoryId = idFrom('list_categories');

const oneCategory = z.object({ category: categorySchema });

export function categoryTools(tasks: Tasks): Tool[] {
  return [createCategory(tasks), listCategories(tasks), updateCategory(tasks), deleteCategory(tasks)];
}

function listCategories({ categories }: Tasks): Tool {
  return defineTool({
    name: 'list_categories',
    title: 'List categories',
    access: 'account',
    description: 'Lists the categories of tasks and papers, with task counts.',
    input: z.strictObject({}),
    output: z.object({ categories: z.array(categorySchema) }),
    annotations: READS,
    example: {},
    madeFrom: taskTables,
    handle(_args, { accountId }) {
      const found = categories.list(accountId).map(categoryView);
      const headline = plural(found.length, 'category', 'categories');
      const told = headed(headline, found, line);
      return { structured: { categories: found }, text: told };
    },
  });
}

function createCategory({ categories }: Tasks): Tool {
  return defineTool({
    name: 'create_category',
    title: 'Create a category',
    access: 'account',
    description: 'Creates a category.',
    input: newCategory,
    output: oneCategory,
    annotations: ADDS,
    example: { name: 'Work', color: '#3366cc' },
    async handle(args, { accountId }) {
      const category = await categories.create(accountId, args);
      return { structured: { category: categoryView(category) }, text: `created category ${line(category)}` };
    },
  });
}

function updateCategory({ categories }: Tasks): Tool {
  return defineTool({
    name: 'update_category',
    title: 'Change a category',
    access: 'account',
    description: 'Updates the given fields of a category. restore brings it back from the trash, with its tasks.',
    input: z.strictObject({ id: categoryId, ...categoryChangeOrRestore.shape }),
    output: oneCategory,
    annotations: SETS,
    example: { id: 1, name: 'Home' },
    async handle({ id, restore, ...fields }, { accountId }) {
      const category = await categories.patch(accountId, id, fields, restore);
      return { structured: { category: categoryView(category) }, text: `category is now ${line(category)}` };
    },
  });
}

function deleteCategory({ categories }: Tasks): Tool {
  return defineTool({
    name: 'delete_category',
    title: 'Move a category to the trash',
    access: 'account',
    description: `Moves a category to the trash; its tasks and papers stay. update_category with restore brings it back for ${limits.binDays} days.`,
    input: z.strictObject({ id: categoryId }),
    output: z.object({ id: z.int().positive(), status: z.literal('deleted') }),
    annotations: DESTROYS,
    example: { id: 1 },
    async handle({ id }, { accountId }) {
      const category = await categories.remove(accountId, id);
      const stay = `its ${plural(category.task_count, 'task')} stay, without a category`;
      const undo = `update_category with restore: true brings it back with them within ${limits.binDays} days`;
      return {
        structured: { id, status: 'deleted' as const },
        text: `deleted category #${id} ${category.name}; ${stay}; ${undo}`,
      };
    },
  });
}

/** Fields that have no words of their own in `line`. */
const OTHERS = declaredCategory.inputsBeside(['name', 'color', 'position']);

function line(category: Category): string {
  const { id, name, color, position, task_count: count } = category;
  const notes = [
    plural(count, 'task'),
    `position ${position}`,
    ...(color === null ? [] : [color]),
    ...notesOf(OTHERS, category),
  ];
  return `#${id} ${name} (${notes.join(', ')})`;
}
