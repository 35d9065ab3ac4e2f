/** Serves the REST routes of tasks and categories. */

import type { z } from 'zod';
import { refuseFields } from '../common/fault.ts';
import type { CallerName } from '../common/principal.ts';
import { readId } from '../fields/kinds.ts';
import { checkQuery } from '../fields/read.ts';
import { empty, json, jsonText } from '../http/reply/reply.ts';
import type { Authenticator, Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { daySpan, defined, pageQuery, readOrder, spanErrors } from './list/arguments.ts';
import { type KnownPages, knownPage } from './list/known-pages.ts';
import { categoryOperations, taskOperations } from './openapi.ts';
import { taskNotFound } from './rules.ts';
import type { Tasks } from './service.ts';
import { categoryView, type taskPageSchema, taskView } from './views.ts';

export interface TaskRoutesOptions {
  readonly tasks: Tasks;
  /** Accepts access tokens. */
  readonly access: Authenticator;
  readonly pages: KnownPages;
  readonly nameOf: CallerName;
}

const TASKS = '/api/tasks';
const CATEGORIES = '/api/categories';
const NONE = { kind: 'none' } as const;
const JSON_BODY = { kind: 'json', bytesMax: limits.jsonBodyBytesMax } as const;

const idOf = ({ params }: RouteRequest): number | undefined => readId(params['id']);

export function taskRoutes({ tasks, access, pages, nameOf }: TaskRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: TASKS,
      access,
      body: NONE,
      doc: taskOperations.list,
      handle: (request, { accountId }) =>
        jsonText(
          200,
          knownPage(pages, accountId, request.search, () => pageText(tasks, accountId, request.query)),
        ),
    },
    {
      method: 'POST',
      path: TASKS,
      access,
      body: JSON_BODY,
      doc: taskOperations.create,
      async handle({ document }, principal) {
        const task = await tasks.create(principal.accountId, document, nameOf(principal));
        return json(201, taskView(task), { Location: `${TASKS}/${task.id}` });
      },
    },
    {
      method: 'GET',
      path: `${TASKS}/:id`,
      access,
      body: NONE,
      doc: taskOperations.get,
      handle: (request, { accountId }) => json(200, taskView(tasks.get(accountId, idOf(request)))),
    },
    {
      method: 'PATCH',
      path: `${TASKS}/:id`,
      access,
      body: JSON_BODY,
      doc: taskOperations.change,
      async handle(request, principal) {
        const by = nameOf(principal);
        return json(200, taskView(await tasks.patch(principal.accountId, idOf(request), request.document, { by })));
      },
    },
    {
      method: 'DELETE',
      path: `${TASKS}/:id`,
      access,
      body: NONE,
      doc: taskOperations.remove,
      async handle(request, principal) {
        const { wasBinned } = await tasks.remove(principal.accountId, idOf(request), nameOf(principal));
        if (wasBinned) throw taskNotFound();
        return empty(204);
      },
    },
    ...categoryRoutes(tasks, access),
  ];
}

function categoryRoutes({ categories }: Tasks, access: Authenticator): Route[] {
  return [
    {
      method: 'GET',
      path: CATEGORIES,
      access,
      body: NONE,
      doc: categoryOperations.list,
      handle: (_request, { accountId }) => json(200, { data: categories.list(accountId).map(categoryView) }),
    },
    {
      method: 'POST',
      path: CATEGORIES,
      access,
      body: JSON_BODY,
      doc: categoryOperations.create,
      async handle({ document }, { accountId }) {
        const category = await categories.create(accountId, document);
        return json(201, categoryView(category), { Location: `${CATEGORIES}/${category.id}` });
      },
    },
    {
      method: 'GET',
      path: `${CATEGORIES}/:id`,
      access,
      body: NONE,
      doc: categoryOperations.get,
      handle: (request, { accountId }) => json(200, categoryView(categories.get(accountId, idOf(request)))),
    },
    {
      method: 'PATCH',
      path: `${CATEGORIES}/:id`,
      access,
      body: JSON_BODY,
      doc: categoryOperations.change,
      handle: async (request, { accountId }) =>
        json(200, categoryView(await categories.patch(accountId, idOf(request), request.document))),
    },
    {
      method: 'DELETE',
      path: `${CATEGORIES}/:id`,
      access,
      body: NONE,
      doc: categoryOperations.remove,
      async handle(request, { accountId }) {
        await categories.remove(accountId, idOf(request));
        return empty(204);
      },
    },
  ];
}

/** Returns a page as JSON, assembled from tasks already encoded as JSON. */
function pageText(tasks: Tasks, accountId: string, query: URLSearchParams): string {
  const { fields, errors } = checkQuery(pageQuery, query);
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
