/** Proves what the OpenAPI document says: it is valid, complete, and nothing in it leads nowhere. */
import { createHash } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { openApiDocument } from '../../src/gateway/openapi/document.ts';
import { empty } from '../../src/http/reply/reply.ts';
import type { RouteDoc, Schema } from '../../src/http/route/doc.ts';
import type { Route } from '../../src/http/route/route.ts';
import { type Call, call } from '../support/http.ts';
import { useHub } from '../support/use-hub.ts';
import { ApiDocument, address, type Json, type Operation, type Parameter } from './support.ts';

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
const TOOLS = '/api/mcp/tools/';

const hub = useHub();
let document: ApiDocument;

beforeAll(async () => {
  document = await ApiDocument.of(hub);
});

interface Listing {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Json;
  readonly outputSchema: Json;
  readonly annotations: Json;
}

async function listedTools(): Promise<Listing[]> {
  const answer = await call(hub, '/api/mcp?toolsets=all', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  return (answer.json()['result'] as { tools: Listing[] }).tools;
}

/** Every schema and every example in the document, each with the place where it stands. */
function* parts(value: unknown, place = '#'): Generator<{ place: string; schema: Json; examples: unknown[] }> {
  if (typeof value !== 'object' || value === null) return;
  const { schema, example, examples, ...rest } = value as Json;
  if (typeof schema === 'object' && schema !== null) {
    const named = Object.values((examples ?? {}) as Record<string, { value: unknown }>).map((one) => one.value);
    yield { place, schema: schema as Json, examples: example === undefined ? named : [example, ...named] };
    return;
  }
  for (const [name, member] of Object.entries(rest)) yield* parts(member, `${place}/${name}`);
}

test('[TOOL-3] the document is OpenAPI 3.1, served without a key', async () => {
  const answer = await call(hub, '/api/mcp/openapi.json');
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(document.root).toMatchObject({ openapi: expect.stringMatching(/^3\.1\.\d+$/), info: { title: 'Cairn' } });
});

test('[TOOL-3, NET-14] the document is sent compressed to whoever accepts it, and not again to whoever has it', async () => {
  const get = (headers: Record<string, string>) => call(hub, '/api/mcp/openapi.json', { headers });
  const [whole, brotli] = [await get({}), await get({ 'Accept-Encoding': 'br' })];
  expect([whole.headers['content-encoding'], brotli.headers['content-encoding']]).toEqual([undefined, 'br']);
  expect(brotliDecompressSync(brotli.bytes).equals(whole.bytes)).toBe(true);
  for (const { headers, bytes } of [whole, brotli]) {
    expect(headers.etag).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`);
    const coding = String(headers['content-encoding'] ?? 'identity');
    const again = await get({ 'Accept-Encoding': coding, 'If-None-Match': String(headers.etag) });
    expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
  }
});

test('[TOOL-3, TOOL-1] each listed tool is one post, with its schemas and its four hints', async () => {
  const tools = await listedTools();
  expect(tools.length).toBeGreaterThan(0);
  const described = document.operations.filter(({ path }) => path.startsWith(TOOLS));
  expect(described.map(({ path, method }) => `${method} ${path}`)).toEqual(
    tools.map(({ name }) => `POST ${TOOLS}${name}`),
  );
  for (const [index, tool] of tools.entries()) {
    const operation = described[index] as Operation;
    const hints = operation['x-mcp-annotations'] ?? {};
    expect(Object.keys(hints).sort()).toEqual([...HINTS].sort());
    expect(Object.values(hints).every((hint) => typeof hint === 'boolean')).toBe(true);
    expect(hints).toEqual(tool.annotations);
    expect(operation.operationId).toBe(tool.name);
    expect(tool.description).toContain(operation.summary);
    const request = operation.requestBody?.content['application/json'];
    const listed = Object.keys(tool.inputSchema['properties'] as object);
    expect(Object.keys(request?.schema?.['properties'] as object)).toEqual(expect.arrayContaining(listed));
    expect(request?.example).toBeDefined();
    expect(operation.responses['200']).toMatchObject({
      content: { 'application/json': { schema: tool.outputSchema } },
    });
  }
});

test('[TOOL-3] an operation has an id of its own, however a generator folds its case', () => {
  const ids = document.operations.map(({ operationId }) => operationId.replaceAll('_', '').toLowerCase());
  expect(new Set(ids).size).toBe(ids.length);
});

test('[TOOL-3] every schema is JSON Schema 2020-12, and every example conforms to its own', () => {
  const found = [...parts(document.root)];
  expect(found.length).toBeGreaterThan(50);
  const wrong = found.flatMap(({ place, schema, examples }) =>
    // A schema without an example is still compiled.
    (examples.length === 0 ? [undefined] : examples).flatMap((example) => {
      const errors = document.errors(schema, example);
      return examples.length === 0 ? [] : errors.map((error) => `${place}: ${error}`);
    }),
  );
  expect(wrong).toEqual([]);
  const { schemas } = document.root['components'] as { schemas: Record<string, Json> };
  for (const schema of Object.values(schemas)) document.errors(schema, undefined);
});

test('[TOOL-3] every JSON request has an example, and every open object says that it is open', () => {
  const open = (schema: unknown): boolean => {
    if (typeof schema !== 'object' || schema === null) return false;
    const { type, properties, additionalProperties } = schema as Json;
    const isOpen = type === 'object' && properties === undefined && additionalProperties === undefined;
    return isOpen || Object.values(schema).some(open);
  };
  // A generator makes `Record<string, never>` of such an object, to which nothing can be assigned.
  expect([...parts(document.root)].filter(({ schema }) => open(schema)).map(({ place }) => place)).toEqual([]);
  expect(open(document.root['components'])).toBe(false);
  const requests = document.operations.filter(({ requestBody }) => requestBody?.content['application/json']);
  for (const { operationId, requestBody } of requests) {
    const { example, examples } = requestBody?.content['application/json'] ?? {};
    expect([operationId, example ?? examples]).toEqual([operationId, expect.anything()]);
  }
});

/** A request that reaches the route, without a credential. */
function reaching(operation: Operation): Call {
  const body = operation.requestBody?.content['application/json'];
  const first = Object.values(body?.examples ?? {})[0]?.value ?? body?.example;
  if (body === undefined) return { method: operation.method };
  return {
    method: operation.method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(first),
  };
}

test('[TOOL-3] every described operation is there', async () => {
  for (const operation of document.operations) {
    const answer = await call(hub, address(operation, {}), reaching(operation));
    expect([operation.operationId, answer.status]).not.toEqual([operation.operationId, 404]);
    expect([operation.operationId, answer.status]).not.toEqual([operation.operationId, 405]);
    expect([operation.operationId, answer.status < 500]).toEqual([operation.operationId, true]);
  }
});

test('[TOOL-3] every method that a described path takes is described', async () => {
  const paths = new Map(document.operations.map((operation) => [operation.path, operation]));
  for (const [path, operation] of paths) {
    const described = document.operations.filter((other) => other.path === path).map(({ method }) => method);
    const other = ['PUT', 'DELETE'].find((method) => !described.includes(method)) ?? '';
    const answer = await call(hub, address(operation, {}), { method: other });
    expect([path, answer.status]).toEqual([path, 405]);
    const allowed = (answer.headers['allow'] ?? '').split(', ').filter((method) => method !== 'HEAD');
    // The stream of an MCP session is no operation: it has no end that a caller could wait for.
    const isGateway = path === '/api/mcp' || path === '/mcp';
    const operations = allowed.filter((method) => !(isGateway && method === 'GET'));
    expect([path, ...described.sort()]).toEqual([path, ...operations.sort()]);
  }
});

test('[TOOL-3] every path parameter is described, and every security scheme is one of the document', () => {
  const { securitySchemes } = document.root['components'] as { securitySchemes: Json };
  for (const { path, parameters = [], security } of document.operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const named = (parameters as readonly Parameter[]).filter((one) => one.in === 'path').map(({ name }) => name);
    expect(named).toEqual(inPath);
    for (const scheme of security.flatMap(Object.keys)) expect(Object.keys(securitySchemes)).toContain(scheme);
  }
});

test('[TOOL-3] a route that says nothing, or what another says, is refused', async () => {
  const doc = (title: string, schema: Schema = {}): RouteDoc => ({
    operationId: title,
    tag: 'tasks',
    summary: title,
    answers: { 200: { description: 'It is', schema: { title, ...schema } } },
  });
  const build = (...docs: readonly Route['doc'][]) =>
    openApiDocument({
      routes: docs.map(
        (one, index): Route => ({
          method: 'GET',
          path: `/${index}`,
          access: 'open',
          body: { kind: 'none' },
          doc: one,
          handle: () => empty(204),
        }),
      ),
      version: '1',
      serverUrl: '/',
    });
  expect(Object.keys((await build(doc('One'), doc('Two')))['paths'] as Json)).toEqual(['/0', '/1']);
  expect(Object.keys((await build('page', doc('Two')))['paths'] as Json)).toEqual(['/1']);
  await expect(build(doc('One'), [])).rejects.toThrow('GET /1 has no description');
  await expect(build(doc('One'), { ...doc('Two'), path: '/0' })).rejects.toThrow('get /0 is described twice');
  await expect(build(doc('One'), doc('One', { type: 'string' }))).rejects.toThrow('have the name One and differ');
});
