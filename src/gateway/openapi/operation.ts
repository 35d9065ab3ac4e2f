/** Builds one operation of the OpenAPI document from a route's doc and its declaration. */
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Fault } from '../../common/fault.ts';
import { staleVersion } from '../../fields/expected-version.ts';
import { jsonSchema } from '../../fields/json-schema.ts';
import { acceptsAnyAgent } from '../../http/checks/agent.ts';
import { refusalReply } from '../../http/reply/status.ts';
import {
  type AnswerDoc,
  type ContentDoc,
  errorSchema,
  type HeaderName,
  jsonContent,
  type RouteDoc,
  type Schema,
} from '../../http/route/doc.ts';
import type { Route, SecurityScheme } from '../../http/route/route.ts';
import type { Components, Json } from './components.ts';

/** A sample refusal of a status, for the example and the headers. */
interface Sample {
  readonly fault: Fault;
  /** True for a refusal before the route is known, or by its deadline: always in the REST form. */
  readonly isOutside?: boolean;
  /** Distinguishes samples of one status. */
  readonly variant?: string;
}

const RATE_HEADERS: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** Headers of every refusal, omitted because they mean nothing to a caller. */
const UNTOLD_HEADERS = new Set(['Content-Type', 'Cache-Control', 'Pragma']);

export function describedOperation(route: Route, doc: RouteDoc, components: Components): Json {
  const answers = Object.entries(doc.answers).map(([status, answer]) => [status, answerOf(answer, route, components)]);
  const refusals = refusalStatuses(route, doc).map((status) => [status, refusal(route, doc, status, components)]);
  const parameters = parametersOf(doc);
  const schemes = schemesOf(route).map((name) => ({ [name]: [] }));
  const { securityOptional = typeof route.access === 'object' } = doc;
  return {
    operationId: doc.operationId,
    tags: [doc.tag],
    summary: doc.summary,
    description: doc.description ?? doc.summary,
    security: securityOptional ? [{}, ...schemes] : schemes,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(doc.request === undefined
      ? {}
      : { requestBody: { required: doc.request.required, content: contentOf(doc.request, 'input', components) } }),
    responses: {
      ...Object.fromEntries(refusals),
      ...Object.fromEntries(answers),
      default: otherRefusal(doc, components),
    },
    ...doc.extensions,
  };
}

/** Names of the credentials that a route accepts. */
function schemesOf({ access }: Route): readonly SecurityScheme[] {
  if (access === 'open' || 'visitor' in access) return [];
  return 'optional' in access ? access.optional.accepts : access.accepts;
}

/** Statuses of the route's refusals, in order, without those described by the doc as answers. */
function refusalStatuses({ access, body, uncounted, path, checksOrigin }: Route, doc: RouteDoc): number[] {
  const own = doc.refusals ?? [];
  const credential = access === 'open' ? [] : [401];
  const counted = uncounted === true ? [] : [429, 503];
  const forbidden = acceptsAnyAgent(path) && checksOrigin !== true ? [] : [403];
  const bodies = { none: [], json: [413, 415], form: [413, 415], stream: [411, 413, 415] } as const;
  const all = new Set([400, ...own, ...credential, ...counted, ...forbidden, ...bodies[body.kind]]);
  return [...all].filter((status) => doc.answers[status] === undefined).sort((a, b) => a - b);
}

/** Headers for examples: only a Host, so the examples are plain JSON-RPC. */
const exampleHeader = (name: string) => (name === 'host' ? 'cairn.example.org' : undefined);

function refusal(route: Route, doc: RouteDoc, status: number, components: Components): Json {
  const { fault, isOutside = false, variant = '' } = sample(route, doc, status);
  const isPlain = isOutside || route.refuse === undefined;
  const reply = isPlain ? refusalReply(fault) : route.refuse(fault, exampleHeader);
  const schema = doc.refusalSchema ?? errorSchema;
  const known = Object.keys(reply.headers).filter((name) => !UNTOLD_HEADERS.has(name));
  return components.response(`${String(schema['title'])}${status}${variant}`, {
    description: STATUS_CODES[status] ?? 'Refused',
    headers: components.headers(['X-Request-Id', ...(known as HeaderName[])]),
    content: {
      'application/json': { schema: components.schema(schema), example: JSON.parse(reply.body as string) as unknown },
    },
  });
}

function otherRefusal(doc: RouteDoc, components: Components): Json {
  const schema = doc.refusalSchema ?? errorSchema;
  return components.response(`${String(schema['title'])}Other`, {
    description: 'Anything else: a late body (408), a fault of the server (500), a full disk (507)',
    headers: components.headers(['X-Request-Id']),
    content: { 'application/json': { schema: components.schema(schema) } },
  });
}

function sample(route: Route, doc: RouteDoc, status: number): Sample {
  switch (status) {
    case 400:
      if (route.body.kind === 'json') return { fault: { kind: 'invalid_json', detail: 'body is not valid JSON' } };
      return {
        fault: { kind: 'bad_framing', detail: 'send exactly one non-empty Host header' },
        isOutside: true,
        variant: 'Framing',
      };
    case 401: {
      const scheme = /McpKey|MirrorToken/.test(schemesOf(route).join()) ? 'McpKey' : 'Bearer';
      const detail = `this credential is missing, unknown, revoked or expired; send Authorization: ${scheme} <credential>`;
      return { fault: { kind: 'unauthenticated', scheme, detail }, variant: scheme };
    }
    case 403:
      if (route.checksOrigin === true) return { fault: { kind: 'origin_forbidden' } };
      return { fault: { kind: 'blocked_agent' }, isOutside: true };
    case 413: {
      const bytesMax = route.body.kind === 'none' ? 0 : route.body.bytesMax;
      return { fault: { kind: 'body_too_large', bytesMax }, variant: `Above${bytesMax}` };
    }
    case 415: {
      const { body } = route;
      if (body.kind === 'stream') {
        return { fault: { kind: 'media_type', expected: body.mediaType, given: '' }, variant: 'Bytes' };
      }
      const isForm = body.kind === 'form';
      const expected = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
      return { fault: { kind: 'media_type', expected, given: '' }, variant: isForm ? 'Form' : '' };
    }
    default: {
      const fault = FAULTS[status];
      if (fault === undefined) throw new Error(`${doc.operationId}: no refusal is known to have status ${status}`);
      return status === 503 ? { fault, isOutside: true } : { fault };
    }
  }
}

const FAULTS: Readonly<Record<number, Fault>> = {
  404: { kind: 'not_found', what: 'not found' },
  409: staleVersion('paper', 1, 2).fault,
  410: { kind: 'events_gone', detail: 'changes after this cursor are no longer kept; continue with after=now' },
  411: { kind: 'length_required' },
  416: { kind: 'range_unsatisfiable', bytesTotal: 48_213 },
  422: { kind: 'invalid_fields', fields: { limit: ['limit must be between 1 and 1000'] } },
  429: { kind: 'rate_limited', limit: 200, retryAfterSeconds: 3 },
  503: { kind: 'draining' },
  507: { kind: 'storage_full' },
};

function answerOf(answer: AnswerDoc, route: Route, components: Components): Json {
  const { description, schema, example, headers = [] } = answer;
  const { content = schema === undefined ? [] : [jsonContent(schema, example)] } = answer;
  const counted = route.uncounted === true ? [] : RATE_HEADERS;
  return {
    description,
    headers: components.headers(['X-Request-Id', ...counted, ...headers]),
    ...(content.length === 0
      ? {}
      : { content: Object.assign({}, ...content.map((one) => contentOf(one, 'output', components))) as Json }),
  };
}

function contentOf(content: ContentDoc, io: 'input' | 'output', components: Components): Json {
  const { mediaType, schema, example, examples } = content;
  const named = Object.entries(examples ?? {}).map(([name, value]) => [name, { value }]);
  return {
    [mediaType]: {
      ...(schema === undefined
        ? {}
        : { schema: components.schema(schema instanceof z.ZodType ? jsonSchema(schema, io) : schema) }),
      ...(example === undefined ? {} : { example }),
      ...(examples === undefined ? {} : { examples: Object.fromEntries(named) as Json }),
    },
  };
}

function parametersOf({ params = {}, query, headers }: RouteDoc): Json[] {
  return [
    ...Object.entries(params).map(([name, { description, schema, example }]) => ({
      name,
      in: 'path',
      description,
      schema,
      example,
      required: true,
    })),
    ...fieldsOf('query', query),
    ...fieldsOf('header', headers),
  ];
}

/** The parameters of a schema for a query or for headers. */
function fieldsOf(place: 'query' | 'header', fields: z.ZodObject | undefined): Json[] {
  if (fields === undefined) return [];
  const { properties, required = [] } = jsonSchema(fields, 'input') as {
    properties: Record<string, Schema & { description: string; examples?: readonly unknown[] }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, examples = [], ...schema }]) => ({
    name,
    in: place,
    description,
    required: required.includes(name),
    schema,
    ...(examples.length === 0 ? {} : { example: examples[0] }),
  }));
}
