/** Describes the gateway's routes for the OpenAPI document: JSON-RPC, and every tool. */
import { z } from 'zod';
import {
  type ContentDoc,
  errorSchema,
  jsonContent,
  objectSchema,
  type RouteDoc,
  restRefusalSchema,
  type Schema,
} from '../../http/route/doc.ts';
import { limits } from '../../limits/service.ts';
import { HEADER_MISMATCH, METHOD_NOT_FOUND } from '../codes.ts';
import { LINES } from '../listing.ts';
import type { ToolDescription, ToolRegistry } from '../registry.ts';
import type { Tool } from '../tool.ts';

/** An object with any members. */
export const anyObject: Schema = { type: 'object', additionalProperties: true };
const id: Schema = { type: ['string', 'number', 'null'] };
const jsonrpc: Schema = { const: '2.0' };

const rpcRequest: Schema = {
  title: 'RpcRequest',
  type: 'object',
  description: 'A JSON-RPC 2.0 request; without id, a notification, which gets no answer',
  properties: {
    jsonrpc,
    id,
    method: { type: 'string', description: '`tools/list`, `tools/call`, or a method of MCP' },
    params: { ...anyObject, description: 'For `tools/call`: `name` and `arguments`' },
  },
  required: ['jsonrpc', 'method'],
  additionalProperties: true,
};

const data: Schema = { ...anyObject, description: 'Data for programs' };
const message: Schema = { type: 'string', description: 'One sentence: what is wrong and what to do' };
const rpcError: Schema = { title: 'RpcError', ...objectSchema({ code: { type: 'integer' }, message }, { data }) };
const rpcSuccess: Schema = { title: 'RpcSuccess', ...objectSchema({ jsonrpc, id, result: anyObject }) };
const rpcFailure: Schema = { title: 'RpcFailure', ...objectSchema({ jsonrpc, id, error: rpcError }) };
const rpcResponse: Schema = { title: 'RpcResponse', anyOf: [rpcSuccess, rpcFailure] };

/** Refusals before the gateway (User-Agent, deadlines) have the REST form. */
const rpcRefusal: Schema = { title: 'RpcRefusal', anyOf: [rpcFailure, errorSchema] };

const toolRefusal = restRefusalSchema('ToolRefusal', {
  code: { type: 'integer', description: 'The JSON-RPC code of the same refusal' },
  data,
});

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const call = {
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'list_tasks', arguments: { due_today: true } },
};
const called = {
  jsonrpc: '2.0',
  id: 2,
  result: {
    content: [{ type: 'text', text: '0 tasks' }],
    structuredContent: { tasks: [], count: 0, has_more: false, complete: true },
  },
};
const refused = {
  jsonrpc: '2.0',
  id: 2,
  error: { code: -32602, message: 'limit must be between 1 and 500', data: { field: 'limit' } },
};

const failure = (code: number, message: string) => ({ jsonrpc: '2.0', id: 1, error: { code, message } });

const rpc = {
  operationId: 'rpc',
  tag: 'gateway',
  summary: 'JSON-RPC 2.0 and MCP: one message or a batch',
  description:
    'Accepts JSON-RPC 2.0 with `tools/list` and `tools/call`, and MCP revisions since 2025-03-26. A failed ' +
    'call travels in an HTTP 200. Without a credential the handshake, `tools/list` and the onboarding tools answer. ' +
    'With `Accept: application/x-ndjson` the responses come one per line, as each is done, and the records of one ' +
    'listing tool one per line between a first and a last line; so do large listings unasked where `Accept` allows it. ' +
    'GET with the `Mcp-Session-Id` of an MCP session and `Accept: text/event-stream` is the stream of that session.',
  headers: z.object({
    'MCP-Protocol-Version': z
      .string()
      .optional()
      .meta({ description: 'MCP revision of the client; absent: plain JSON-RPC', examples: ['2025-11-25'] }),
  }),
  request: {
    required: true,
    mediaType: 'application/json',
    schema: {
      anyOf: [rpcRequest, { type: 'array', items: rpcRequest, minItems: 1, maxItems: limits.batchItemsMax }],
    },
    examples: { list, call, batch: [list, call] },
  },
  answers: {
    200: {
      description: 'The response; for a batch an array in any order, matched by id',
      content: [
        {
          mediaType: 'application/json',
          schema: { anyOf: [rpcResponse, { type: 'array', items: rpcResponse, minItems: 1 }] },
          examples: { success: called, failure: refused, batch: [called] },
        },
        {
          mediaType: LINES,
          schema: { type: 'string', description: 'One response per line, each as in application/json' },
          example: `${JSON.stringify(called)}\n`,
        },
      ],
    },
    202: { description: 'Only notifications: nothing to answer' },
    400: {
      description: 'The protocol version is not supported, or an MCP header differs from the body',
      schema: rpcRefusal,
      example: failure(HEADER_MISMATCH, 'Mcp-Method must be tools/list, like the method in the body'),
    },
    404: {
      description: 'Unknown method, in MCP since 2026-07-28',
      schema: rpcRefusal,
      example: failure(METHOD_NOT_FOUND, 'unknown method ping; use tools/list or tools/call'),
    },
  },
  refusalSchema: rpcRefusal,
} as const satisfies RouteDoc;

export const gatewayOperations = {
  rpc,
  signInDoor: {
    ...rpc,
    operationId: 'rpcSignedIn',
    summary: 'The same for clients that sign in by browser',
    description:
      'Answers as `/api/mcp` does, but only with a credential: without one it is 401 from the first message on, and ' +
      '`WWW-Authenticate` names the metadata (RFC 9728) by which an MCP client finds the sign-in.',
  },
} as const satisfies Record<string, RouteDoc>;

/** One operation per tool, as a REST route below `base`. */
export function* toolOperations(registry: ToolRegistry, base: string): Generator<RouteDoc> {
  for (const tool of registry.tools) yield toolDoc(tool, registry.described(tool), base);
}

/** A listing can also be sent as lines: on request, and without one when it is large. */
function resultContent({ lists, name }: Tool, outputSchema: Schema): ContentDoc[] {
  if (lists !== true) return [jsonContent(outputSchema)];
  const start = { type: 'start', jsonrpc: '2.0', id: null, tool: name, total_count: 0, total_size_bytes: 0 };
  return [
    jsonContent(outputSchema),
    {
      mediaType: LINES,
      schema: {
        type: 'string',
        description: 'A line of type `start`, one line per record, and one of type `end` with the rest of the result',
      },
      example: `${JSON.stringify(start)}\n${JSON.stringify({ type: 'end' })}\n`,
    },
  ];
}

function toolDoc(tool: Tool, { inputSchema, outputSchema }: ToolDescription, base: string): RouteDoc {
  const [summary = tool.description] = tool.description.split(/(?<=\.) /);
  return {
    path: `${base}/${tool.name}`,
    operationId: tool.name,
    tag: 'tools',
    summary: summary.replace(/\.$/, ''),
    description: tool.description,
    securityOptional: tool.access === 'open',
    // An absent body means no arguments.
    request: { required: tool.input.safeParse({}).success === false, ...jsonContent(inputSchema, tool.example) },
    answers: { 200: { description: 'The structured result', content: resultContent(tool, outputSchema) } },
    refusals: [404, 409, 422, 507],
    refusalSchema: toolRefusal,
    extensions: { 'x-mcp-annotations': tool.annotations },
  };
}
