/** Describes the routes of tasks and categories for OpenAPI. */
import { jsonSchema } from '../fields/json-schema.ts';
import { type AnswerDoc, jsonContent, type ParameterDoc, parametersOf, type RouteDoc } from '../http/route/doc.ts';
import { limits } from '../limits/service.ts';
import { declaredCategory, declaredTask } from './declared.ts';
import * as fields from './fields.ts';
import { pageQuery } from './list/arguments.ts';
import { categoryListSchema, categorySchema, taskPageSchema, taskSchema } from './views.ts';

const ID_MAX = Number.MAX_SAFE_INTEGER;

const task = jsonSchema(taskSchema.meta({ title: 'Task' }), 'output');
const category = jsonSchema(categorySchema.meta({ title: 'Category' }), 'output');

const newTask = { title: 'NewTask', ...jsonSchema(fields.newTask, 'input') };
const taskChange = { title: 'TaskChange', ...jsonSchema(fields.taskChange, 'input') };
const newCategory = { title: 'NewCategory', ...jsonSchema(fields.newCategory, 'input') };
const categoryChange = { title: 'CategoryChange', ...jsonSchema(fields.categoryChange, 'input') };

const taskPage = { title: 'TaskPage', ...jsonSchema(taskPageSchema, 'output') };

const TASK = declaredTask.example;

const CATEGORY = { ...declaredCategory.example, task_count: 1 };

const idOf = (what: string): readonly ParameterDoc[] => [
  {
    name: 'id',
    in: 'path',
    description: `Id of the ${what}`,
    schema: { type: 'integer', minimum: 1, maximum: ID_MAX },
    example: 7,
  },
];

const TASKS = { tag: 'tasks', security: ['AccessToken'] } as const;
const CATEGORIES = { tag: 'categories', security: ['AccessToken'] } as const;
const oneTask: AnswerDoc = { description: 'The task', content: jsonContent(task, TASK) };
const oneCategory: AnswerDoc = { description: 'The category', content: jsonContent(category, CATEGORY) };

export const taskOperations = {
  list: {
    ...TASKS,
    operationId: 'tasksList',
    summary: 'Lists a page of tasks',
    description: 'Filters are combined with AND. Tasks without a due date sort last; the trash is excluded.',
    parameters: parametersOf('query', pageQuery),
    answers: {
      200: {
        description: 'A page',
        content: jsonContent(taskPage, { data: [TASK], meta: { page: 1, per_page: 25, total: 1, total_pages: 1 } }),
      },
    },
    refusals: [422],
  },
  create: {
    ...TASKS,
    operationId: 'tasksCreate',
    summary: 'Creates a task',
    request: { required: true, ...jsonContent(newTask, { content: TASK.content, due_date: TASK.due_date }) },
    answers: { 201: { ...oneTask, headers: ['Location'] } },
    refusals: [422],
  },
  get: {
    ...TASKS,
    operationId: 'tasksGet',
    summary: 'One task',
    parameters: idOf('task'),
    answers: { 200: oneTask },
    refusals: [404],
  },
  change: {
    ...TASKS,
    operationId: 'tasksUpdate',
    summary: 'Updates the given fields of a task',
    description:
      'With expected_version it is refused when the task has another version; the refusal describes the current task.',
    parameters: idOf('task'),
    request: { required: true, ...jsonContent(taskChange, { completed: true, due_date: null, expected_version: 1 }) },
    answers: { 200: oneTask },
    refusals: [404, 409, 422],
  },
  remove: {
    ...TASKS,
    operationId: 'tasksDelete',
    summary: 'Moves a task to the trash',
    description: `For ${limits.binDays} days the tool update_task with restore brings it back.`,
    parameters: idOf('task'),
    answers: { 204: { description: 'It is in the trash' } },
    refusals: [404],
  },
} as const satisfies Record<string, RouteDoc>;

export const categoryOperations = {
  list: {
    ...CATEGORIES,
    operationId: 'categoriesList',
    summary: 'Lists the categories in their order',
    answers: {
      200: {
        description: 'All categories',
        content: jsonContent(jsonSchema(categoryListSchema, 'output'), { data: [CATEGORY] }),
      },
    },
  },
  create: {
    ...CATEGORIES,
    operationId: 'categoriesCreate',
    summary: 'Creates a category',
    description: 'Default: after the others.',
    request: { required: true, ...jsonContent(newCategory, { name: CATEGORY.name, color: CATEGORY.color }) },
    answers: { 201: { ...oneCategory, headers: ['Location'] } },
    refusals: [422],
  },
  get: {
    ...CATEGORIES,
    operationId: 'categoriesGet',
    summary: 'One category',
    parameters: idOf('category'),
    answers: { 200: oneCategory },
    refusals: [404],
  },
  change: {
    ...CATEGORIES,
    operationId: 'categoriesUpdate',
    summary: 'Updates the given fields of a category',
    parameters: idOf('category'),
    request: { required: true, ...jsonContent(categoryChange, { position: 3 }) },
    answers: { 200: oneCategory },
    refusals: [404, 422],
  },
  remove: {
    ...CATEGORIES,
    operationId: 'categoriesDelete',
    summary: 'Deletes a category and clears it on its tasks',
    parameters: idOf('category'),
    answers: { 204: { description: 'It is gone' } },
    refusals: [404],
  },
} as const satisfies Record<string, RouteDoc>;
