/** The REST rows of tasks and categories. */

import { empty, json, jsonText } from '../http/reply/reply.ts';
import { readId } from '../http/request/members.ts';
import type { Authenticator, Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { readPageQuery } from './input.ts';
import { type KnownPages, knownPage } from './list/known-pages.ts';
import { categoryDocs, taskDocs } from './openapi.ts';
import { taskNotFound } from './rules.ts';
import type { Tasks } from './service.ts';
import { categoryView, taskView } from './views.ts';

export interface TaskRoutesOptions {
  readonly tasks: Tasks;
  /** Takes access tokens. */
  readonly access: Authenticator;
  readonly pages: KnownPages;
}

const TASKS = '/api/tasks';
const CATEGORIES = '/api/categories';
const NONE = { kind: 'none' } as const;
const JSON_BODY = { kind: 'json', bytesMax: limits.jsonBodyBytesMax } as const;

const idOf = ({ params }: RouteRequest): number | undefined => readId(params['id']);

export function taskRoutes({ tasks, access, pages }: TaskRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: TASKS,
      access,
      body: NONE,
      doc: taskDocs.list,
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
      doc: taskDocs.create,
      async handle({ document }, { accountId }) {
        const task = await tasks.create(accountId, document);
        return json(201, taskView(task), { Location: `${TASKS}/${task.id}` });
      },
    },
    {
      method: 'GET',
      path: `${TASKS}/:id`,
      access,
      body: NONE,
      doc: taskDocs.get,
      handle: (request, { accountId }) => json(200, taskView(tasks.get(accountId, idOf(request)))),
    },
    {
      method: 'PATCH',
      path: `${TASKS}/:id`,
      access,
      body: JSON_BODY,
      doc: taskDocs.change,
      handle: async (request, { accountId }) =>
        json(200, taskView(await tasks.patch(accountId, idOf(request), request.document))),
    },
    {
      method: 'DELETE',
      path: `${TASKS}/:id`,
      access,
      body: NONE,
      doc: taskDocs.remove,
      async handle(request, { accountId }) {
        const { wasBinned } = await tasks.remove(accountId, idOf(request));
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
      doc: categoryDocs.list,
      handle: (_request, { accountId }) => json(200, { data: categories.list(accountId).map(categoryView) }),
    },
    {
      method: 'POST',
      path: CATEGORIES,
      access,
      body: JSON_BODY,
      doc: categoryDocs.create,
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
      doc: categoryDocs.get,
      handle: (request, { accountId }) => json(200, categoryView(categories.get(accountId, idOf(request)))),
    },
    {
      method: 'PATCH',
      path: `${CATEGORIES}/:id`,
      access,
      body: JSON_BODY,
      doc: categoryDocs.change,
      handle: async (request, { accountId }) =>
        json(200, categoryView(await categories.patch(accountId, idOf(request), request.document))),
    },
    {
      method: 'DELETE',
      path: `${CATEGORIES}/:id`,
      access,
      body: NONE,
      doc: categoryDocs.remove,
      async handle(request, { accountId }) {
        await categories.remove(accountId, idOf(request));
        return empty(204);
      },
    },
  ];
}

/** A page as JSON, put together from tasks that are JSON already. */
function pageText(tasks: Tasks, accountId: string, query: URLSearchParams): string {
  const { filter, order, page, perPage } = readPageQuery(query);
  const found = tasks.listTexts(accountId, { filter, order, offset: (page - 1) * perPage, limit: perPage });
  const meta = { page, per_page: perPage, total: found.total, total_pages: Math.ceil(found.total / perPage) };
  return `{"data":[${found.tasks.join(',')}],"meta":${JSON.stringify(meta)}}`;
}
