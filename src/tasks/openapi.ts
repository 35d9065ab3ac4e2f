/** What the routes of tasks and categories say of themselves. */
import { jsonSchema } from '../gateway/registry.ts';
import {
  type AnswerDoc,
  jsonContent,
  objectSchema,
  type ParameterDoc,
  type RouteDoc,
  type Schema,
} from '../http/route/doc.ts';
import { limits } from '../limits/service.ts';
import { SORT_FIELDS } from './list/query.ts';
import { KANBAN_STATUSES } from './records.ts';
import { categorySchema, taskSchema } from './views.ts';

const ID_MAX = Number.MAX_SAFE_INTEGER;

const task = { title: 'Task', ...jsonSchema(taskSchema, 'output') };
const category = { title: 'Category', ...jsonSchema(categorySchema, 'output') };

const taskFields = {
  content: {
    type: 'string',
    minLength: 1,
    maxLength: limits.taskContentCharsMax,
    description: 'What is to be done; not only white space',
  },
  due_date: { type: ['string', 'null'], format: 'date', description: 'YYYY-MM-DD; null for none' },
  is_important: { type: 'boolean' },
  completed: { type: 'boolean', description: 'True is the same as kanban_status done' },
  category_id: { type: ['integer', 'null'], minimum: 1, maximum: ID_MAX, description: 'null for none' },
  kanban_status: { enum: KANBAN_STATUSES, description: 'Column of the board; todo unless given' },
} as const;

const categoryFields = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: limits.categoryNameCharsMax,
    description: 'Unique within the account, compared without case',
  },
  color: { type: ['string', 'null'], pattern: '^#[0-9a-fA-F]{6}$', description: 'null for none' },
  position: { type: 'integer', minimum: 0, maximum: limits.categoryPositionMax, description: 'Place in the list' },
} as const;

/** A partial write: nothing is required. */
const partial = (fields: Readonly<Record<string, Schema>>) => objectSchema(fields, ...Object.keys(fields));

const newTask = {
  title: 'NewTask',
  ...objectSchema(taskFields, ...Object.keys(taskFields).filter((name) => name !== 'content')),
};
const newCategory = { title: 'NewCategory', ...objectSchema(categoryFields, 'color', 'position') };
const taskChange = { title: 'TaskChange', ...partial(taskFields) };
const categoryChange = { title: 'CategoryChange', ...partial(categoryFields) };

const count = { type: 'integer', minimum: 0 };
const taskPage = {
  title: 'TaskPage',
  ...objectSchema({
    data: { type: 'array', items: task },
    meta: objectSchema({
      page: { type: 'integer', minimum: 1 },
      per_page: { type: 'integer', minimum: 1, maximum: limits.taskPageMax },
      total: { ...count, description: 'Tasks that match on all pages' },
      total_pages: count,
    }),
  }),
};

const TASK = {
  id: 7,
  content: 'Renew the certificate',
  due_date: '2026-12-01',
  is_important: true,
  completed: false,
  completed_at: null,
  category_id: 2,
  kanban_status: 'todo',
  created_at: '2026-11-20T20:18:57.123Z',
  updated_at: '2026-11-20T20:18:57.123Z',
};

const CATEGORY = {
  id: 2,
  name: 'Operations',
  color: '#1f6feb',
  position: 0,
  task_count: 1,
  created_at: '2026-11-20T20:18:57.123Z',
  updated_at: '2026-11-20T20:18:57.123Z',
};

const query = (name: string, description: string, schema: Schema): ParameterDoc => ({
  name,
  in: 'query',
  description,
  schema,
});

const day = { type: 'string', format: 'date' };

const pageQuery: readonly ParameterDoc[] = [
  query('category_id', 'Only tasks of this category', { type: 'integer', minimum: 1, maximum: ID_MAX }),
  query('completed', 'Only completed tasks, or only open ones', { type: 'boolean' }),
  query('is_important', 'Only important tasks, or only others', { type: 'boolean' }),
  query('kanban_status', 'Only this column of the board', { type: 'string', enum: KANBAN_STATUSES }),
  query('due_date_from', 'First day due, YYYY-MM-DD', day),
  query('due_date_to', 'Last day due, YYYY-MM-DD', day),
  query('sort_by', 'What the list is sorted by; created_at unless given', { type: 'string', enum: SORT_FIELDS }),
  query('sort_order', 'asc for due_date and content unless given, else desc', {
    type: 'string',
    enum: ['asc', 'desc'],
  }),
  query('page', 'Which page, from 1', { type: 'integer', minimum: 1, maximum: limits.taskPageNumberMax, default: 1 }),
  query('per_page', 'Tasks on a page', {
    type: 'integer',
    minimum: 1,
    maximum: limits.taskPageMax,
    default: limits.taskPageDefault,
  }),
];

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

export const taskDocs = {
  list: {
    ...TASKS,
    operationId: 'tasksList',
    summary: 'Lists a page of tasks',
    description: 'All filters must hold together. Tasks without a due date sort last; the bin is left out.',
    parameters: pageQuery,
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
    summary: 'Changes the given fields of a task; the others stay',
    parameters: idOf('task'),
    request: { required: true, ...jsonContent(taskChange, { completed: true, due_date: null }) },
    answers: { 200: oneTask },
    refusals: [404, 422],
  },
  remove: {
    ...TASKS,
    operationId: 'tasksDelete',
    summary: 'Moves a task to the bin',
    description: `For ${limits.binDays} days the tool update_task with restore brings it back.`,
    parameters: idOf('task'),
    answers: { 204: { description: 'It is in the bin' } },
    refusals: [404],
  },
} as const satisfies Record<string, RouteDoc>;

export const categoryDocs = {
  list: {
    ...CATEGORIES,
    operationId: 'categoriesList',
    summary: 'Lists the categories in their order',
    answers: {
      200: {
        description: 'All categories',
        content: jsonContent(objectSchema({ data: { type: 'array', items: category } }), { data: [CATEGORY] }),
      },
    },
  },
  create: {
    ...CATEGORIES,
    operationId: 'categoriesCreate',
    summary: 'Creates a category',
    description: 'It stands behind the others unless it says where.',
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
    summary: 'Changes the given fields of a category; the others stay',
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
