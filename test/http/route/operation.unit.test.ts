/** Proves what follows from the declaration of a REST operation. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '../../../src/common/fault.ts';
import { openApiDocument } from '../../../src/gateway/openapi/document.ts';
import { operation, recordId } from '../../../src/http/route/operation.ts';
import type { Authenticator, Route, RouteRequest } from '../../../src/http/route/route.ts';

const principal = { accountId: 'acc_a', credentialId: 'key_a' };
const access: Authenticator = Object.assign(() => principal, { accepts: ['AccessToken'] as const });
const said = { operationId: 'changeThing', tag: 'things', summary: 'Changes a thing', access };
const answer = { description: 'The thing', schema: z.object({ id: z.number() }), example: { id: 7 } };

const change = operation({
  ...said,
  method: 'PATCH',
  path: '/things/:id',
  params: { id: recordId('thing', 7) },
  query: z.strictObject({ times: z.int().min(1).default(1) }),
  body: z.strictObject({ name: z.string().min(1) }),
  example: { name: 'a' },
  answer,
  refusals: [409],
  handle(asked) {
    const { id = 0 } = asked.params;
    return { id: asked.request.search === 'untouched' ? id : id * asked.query.times };
  },
});

function call(route: Route, given: Partial<RouteRequest>) {
  const request = { params: {}, search: '', query: new URLSearchParams(), document: undefined, ...given };
  return route.handle(request as RouteRequest, principal);
}

test('[TOOL-3] a declaration is the whole documentation of its route', async () => {
  const { paths } = await openApiDocument({ routes: [change], version: '1', serverUrl: '/' });
  const described = (paths as Record<string, Record<string, Record<string, unknown>>>)['/things/{id}']?.['patch'];
  expect(described).toMatchObject({
    operationId: 'changeThing',
    security: [{ AccessToken: [] }],
    parameters: [
      { name: 'id', in: 'path', required: true, example: 7 },
      { name: 'times', in: 'query', required: false, schema: { type: 'integer', default: 1 } },
    ],
    requestBody: { required: true, content: { 'application/json': { example: { name: 'a' } } } },
  });
  const statuses = Object.keys(described?.['responses'] as object);
  expect(statuses).toEqual(['200', '400', '401', '403', '404', '409', '413', '415', '422', '429', '503', 'default']);
});

test('[TOOL-3] a segment that is not declared, or an operation that cannot answer, stops the start', () => {
  const declared = { ...said, method: 'GET', path: '/things/:id', answer } as const;
  expect(() => operation({ ...declared, handle: () => ({ id: 1 }) })).toThrow('/things/:id does not declare');
  expect(() => operation({ ...declared, params: { id: recordId('thing', 7) } })).toThrow('needs a handler');
});

test('a part of a request is validated when the handler reads it, and not before', () => {
  const query = new URLSearchParams({ times: '0' });
  const params = { id: '7' };
  expect(call(change, { params, query, search: 'untouched' })).toMatchObject({ status: 200, body: '{"id":7}' });
  expect(() => call(change, { params, query })).toThrow(Refusal);
  expect(call(change, { params, query: new URLSearchParams({ times: '3' }) })).toMatchObject({ body: '{"id":21}' });
  expect(call(change, { params: { id: '07' } })).toMatchObject({ body: '{"id":0}' });
});

test('what was created is named in Location, and 204 has no body', async () => {
  const create = operation({
    ...said,
    method: 'POST',
    path: '/things',
    body: z.strictObject({ name: z.string() }),
    readBody: (given, { accountId }) => ({ name: `${accountId} ${String((given as { name: unknown }).name)}` }),
    answer: { ...answer, status: 201 },
    location: ({ id }) => `/things/${id}`,
    handle: async ({ body }) => ({ id: body.name.length }),
  });
  const made = await call(create, { document: { name: 'a' } });
  expect(made).toMatchObject({ status: 201, headers: { Location: '/things/7' }, body: '{"id":7}' });
  const remove = operation({
    ...said,
    method: 'DELETE',
    path: '/things',
    answer: { status: 204, description: 'It is gone' },
    handle: () => undefined,
  });
  expect(call(remove, {})).toMatchObject({ status: 204, body: undefined });
});

test('only a body that may be omitted is read as one without fields', () => {
  const body = z.strictObject({ rotate: z.boolean().default(false) });
  const post = { ...said, method: 'POST', path: '/things', body, answer } as const;
  const reads = ({ body: { rotate } }: { readonly body: z.output<typeof body> }) => ({ id: Number(rotate) });
  expect(() => call(operation({ ...post, handle: reads }), {})).toThrow(Refusal);
  const optional = operation({ ...post, bodyRequired: false, handle: reads });
  expect(call(optional, {})).toMatchObject({ body: '{"id":0}' });
  expect(() => call(optional, { document: null })).toThrow(Refusal);
});
