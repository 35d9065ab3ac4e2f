/** Declares the REST operations of tasks and categories. */
import type { z } from 'zod';
import { refuseFields } from '../common/fault.ts';
import type { CallerName } from '../common/principal.ts';
import { asksToRestore } from '../fields/asks-to-restore.ts';
import { checkQuery } from '../fields/read.ts';
import { jsonText } from '../http/reply/reply.ts';
import { operation, recordId } from '../http/route/operation.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { declaredCategory, declaredTask } from './declared.ts';
import { categoryChangeOrRestore, newCategory, newTask, taskChangeOrRestore } from './fields.ts';
import { daySpan, defined, readOrder, spanErrors, taskPageQuery } from './list/arguments.ts';
import { type KnownPages, knownPage } from './list/known-pages.ts';
import { taskNotFound } from './rules.ts';
import type { Tasks } from './service.ts';
import { categoryListSchema, categorySchema, categoryView, taskPageSchema, taskSchema, taskView } from './views.ts';

export interface TaskRoutesOptions {
  readonly tasks: Tasks;
  /** Accepts access tokens. */
  readonly access: Authenticator;
  readonly pages: KnownPages;
  readonly nameOf: CallerName;
}

const TASKS = '/api/tasks';
const CATEGORIES = '/api/categories';

const TASK = declaredTask.example;
const CATEGORY = { ...declaredCategory.example, task_count: 1 };

const oneTask = { description: 'The task', schema: taskSchema.meta({ title: 'Task' }), example: TASK };
const oneCategory = {
  description: 'The category',
  schema: categorySchema.meta({ title: 'Category' }),
  example: CATEGORY,
};

export function taskRoutes(options: TaskRoutesOptions): Route[] {
  return [...taskListRoutes(options), ...oneTaskRoutes(options), ...categoryRoutes(options)];
}

function taskListRoutes({ tasks, access, pages, nameOf }: TaskRoutesOptions): Route[] {
  return [
    operation({
      method: 'GET',
      path: TASKS,
      operationId: 'tasksList',
      tag: 'tasks',
      summary: 'Lists a page of tasks',
      description: 'Filters are combined with AND. Tasks without a due date sort last; the trash is excluded.',
      access,
      query: taskPageQuery,
      answer: {
        description: 'A page',
        schema: taskPageSchema.meta({ title: 'TaskPage' }),
        example: { data: [TASK], meta: { page: 1, per_page: 25, total: 1, total_pages: 1 } },
      },
      reply: ({ request }, { accountId }) =>
        jsonText(
          200,
          knownPage(pages, accountId, request.search, () => pageText(tasks, accountId, request.query)),
        ),
    }),
    operation({
      method: 'POST',
      path: TASKS,
      operationId: 'tasksCreate',
      tag: 'tasks',
      summary: 'Creates a task',
      access,
      body: newTask.meta({ title: 'NewTask' }),
      example: { content: TASK.content, due_date: TASK.due_date },
      readBody: (given, { accountId }) => tasks.read(accountId, newTask, given),
      answer: { status: 201, ...oneTask },
      location: ({ id }) => `${TASKS}/${id}`,
      handle: async ({ body }, by) => taskView(await tasks.create(by.accountId, body, nameOf(by))),
    }),
  ];
}

function oneTaskRoutes({ tasks, access, nameOf }: TaskRoutesOptions): Route[] {
  const one = { path: `${TASKS}/:id`, tag: 'tasks', access, params: { id: recordId('task', 7) } } as const;
  return [
    operation({
      ...one,
      method: 'GET',
      operationId: 'tasksGet',
      summary: 'One task',
      answer: oneTask,
      handle: ({ params: { id } }, { accountId }) => taskView(tasks.get(accountId, id)),
    }),
    operation({
      ...one,
      method: 'PATCH',
      operationId: 'tasksUpdate',
      summary: 'Updates the given fields of a task',
      description:
        'With expected_version it is refused when the task has another version; the refusal describes the current task.',
      body: taskChangeOrRestore.meta({ title: 'TaskChange' }),
      example: { completed: true, due_date: null, expected_version: 1 },
      readBody: (given, { accountId }) => tasks.read(accountId, taskChangeOrRestore, given),
      answer: oneTask,
      refusals: [409],
      async handle(call, by) {
        const id = tasks.existing(by.accountId, call.params.id, asksToRestore(call.request.document));
        const { restore = false, ...fields } = call.body;
        return taskView(await tasks.patch(by.accountId, id, fields, { restore, by: nameOf(by) }));
      },
    }),
    operation({
      ...one,
      method: 'DELETE',
      operationId: 'tasksDelete',
      summary: 'Moves a task to the trash',
      description: `For ${limits.binDays} days a PATCH with restore brings it back.`,
      answer: { status: 204, description: 'It is in the trash' },
      async handle({ params: { id } }, by) {
        const { wasBinned } = await tasks.remove(by.accountId, id, nameOf(by));
        if (wasBinned) throw taskNotFound();
      },
    }),
  ];
}

function categoryRoutes({ tasks: { categories }, access }: TaskRoutesOptions): Route[] {
  const all = { path: CATEGORIES, tag: 'categories', access } as const;
  const one = { ...all, path: `${CATEGORIES}/:id`, params: { id: recordId('category', 7) } } as const;
  return [
    operation({
      ...all,
      method: 'GET',
      operationId: 'categoriesList',
      summary: 'Lists the categories in their order',
      answer: { description: 'All categories', schema: categoryListSchema, example: { data: [CATEGORY] } },
      handle: (_call, { accountId }) => ({ data: categories.list(accountId).map(categoryView) }),
    }),
    operation({
      ...all,
      method: 'POST',
      operationId: 'categoriesCreate',
      summary: 'Creates a category',
      description: 'Default: after the others.',
      body: newCategory.meta({ title: 'NewCategory' }),
      example: { name: CATEGORY.name, color: CATEGORY.color },
      answer: { status: 201, ...oneCategory },
      location: ({ id }) => `${CATEGORIES}/${id}`,
      handle: async ({ body }, { accountId }) => categoryView(await categories.create(accountId, body)),
    }),
    operation({
      ...one,
      method: 'GET',
      operationId: 'categoriesGet',
      summary: 'One category',
      answer: oneCategory,
      handle: ({ params: { id } }, { accountId }) => categoryView(categories.get(accountId, id)),
    }),
    operation({
      ...one,
      method: 'PATCH',
      operationId: 'categoriesUpdate',
      summary: 'Updates the given fields of a category',
      body: categoryChangeOrRestore.meta({ title: 'CategoryChange' }),
      example: { position: 3 },
      answer: oneCategory,
      async handle(call, { accountId }) {
        const id = categories.existing(accountId, call.params.id, asksToRestore(call.request.document));
        const { restore, ...fields } = call.body;
        return categoryView(await categories.patch(accountId, id, fields, restore));
      },
    }),
    operation({
      ...one,
      method: 'DELETE',
      operationId: 'categoriesDelete',
      summary: 'Moves a category to the trash and clears it on its tasks',
      description: `For ${limits.binDays} days a PATCH with restore brings it back with its tasks.`,
      answer: { status: 204, description: 'It is in the trash' },
      async handle({ params: { id } }, { accountId }) {
        await categories.remove(accountId, id);
      },
    }),
  ];
}

/** Returns a page as JSON, assembled from tasks already encoded as JSON. */
function pageText(tasks: Tasks, accountId: string, query: URLSearchParams): string {
  const { fields, errors } = checkQuery(taskPageQuery, query);
  const { due_date_from: from, due_date_to: to, page = 1, per_page = limits.taskPageDefault } = fields;
  refuseFields({ ...spanErrors('due_date', from, to), ...errors });
  const filter = defined({
    categoryId: fields.category_id,
    completed: fields.completed,
    isImportant: fields.is_important,
    kanbanStatus: fields.kanban_status,
    due: daySpan(from, to),
  });
  const order = readOrder(fields.sort_by, fields.sort_order);
  const found = tasks.listShown(accountId, { filter, order, offset: (page - 1) * per_page, limit: per_page });
  const meta: z.output<typeof taskPageSchema>['meta'] = {
    page,
    per_page,
    total: found.total,
    total_pages: Math.ceil(found.total / per_page),
  };
  return `{"data":[${found.tasks.map(({ json }) => json).join(',')}],"meta":${JSON.stringify(meta)}}`;
}
