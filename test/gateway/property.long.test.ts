/** Generated messages and arguments: whatever comes, the answer is a JSON-RPC response, soon, and never a 5xx. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  argumentSchemas,
  type ListedTool,
  linesOf,
  listTools,
  mirrorTool,
  NDJSON,
  post,
  type RpcReply,
  repliesOf,
  replyOf,
  structured,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import type { Answer } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { runs, seed } from '../support/seed.ts';
import { useHub } from '../support/use-hub.ts';

const CODES = [-32700, -32600, -32601, -32602, -32001, -32003, -32004, -32005, -32006, -32008, -32020, -32022];

const hub = useHub({ loudest: 40 });
let owner: Account;
let tools: ListedTool[];
let schemas: Map<string, Record<string, unknown>>;
let checks: Map<string, ValidateFunction>;

beforeAll(async () => {
  owner = await account(hub);
  tools = await listTools(hub);
  schemas = await argumentSchemas(hub);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  checks = new Map(tools.map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
});

const bounded = (count: number) => ({
  seed,
  numRuns: runs(count),
  interruptAfterTimeLimit: 8000,
  markInterruptAsFailure: false,
});

/** Throws unless it is one JSON-RPC response with a code that a caller may cause. */
function checkReply(reply: RpcReply): void {
  const keys = Object.keys(reply).sort();
  expect(keys).toEqual(reply.error === undefined ? ['id', 'jsonrpc', 'result'] : ['error', 'id', 'jsonrpc']);
  expect(reply.jsonrpc).toBe('2.0');
  expect(reply.id === null || ['string', 'number'].includes(typeof reply.id)).toBe(true);
  if (reply.error === undefined) return;
  expect(CODES).toContain(reply.error.code);
  expect(reply.error.message).not.toBe('');
}

function checkAnswer(answer: Answer): void {
  expect([200, 202, 400, 401, 404]).toContain(answer.status);
  if (answer.status === 202) {
    expect(answer.text).toBe('');
    return;
  }
  const replies = answer.text.startsWith('[') ? repliesOf(answer) : [replyOf(answer)];
  expect(replies.length).toBeGreaterThan(0);
  for (const reply of replies) checkReply(reply);
}

const names = fc.constantFrom(
  'list_tasks',
  'create_task',
  'update_task',
  'delete_task',
  'list_categories',
  'get_setup_guide',
  'nope',
  '__proto__',
);
const callParams = fc.record({ name: names, arguments: fc.oneof(fc.jsonValue(), fc.object()) }, { requiredKeys: [] });
const envelope = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, fc.jsonValue()),
    id: fc.oneof(fc.integer(), fc.string(), fc.double({ noNaN: true }), fc.constant(null), fc.jsonValue()),
    method: fc.oneof(
      fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping', 'server/discover', 'prompts/list'),
      fc.string(),
      fc.jsonValue(),
    ),
    params: fc.oneof({ weight: 4, arbitrary: callParams }, fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  { weight: 5, arbitrary: envelope },
  { weight: 3, arbitrary: fc.array(fc.oneof(envelope, fc.jsonValue()), { maxLength: 12 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
/** A text with one stretch cut out, doubled or replaced. */
const mutated = fc
  .tuple(body, fc.nat(), fc.nat({ max: 20 }), fc.oneof(fc.constant(''), fc.string()))
  .map(([value, at, length, insert]) => {
    const text = JSON.stringify(value) ?? '';
    const start = at % (text.length + 1);
    return text.slice(0, start) + insert + text.slice(start + length);
  });
const headers = fc.record(
  {
    Accept: fc.constantFrom('application/json', '*/*', 'text/html'),
    'MCP-Protocol-Version': fc.constantFrom('2025-11-25', '2025-03-26', '2026-07-28', '1.0', 'x'),
    'Mcp-Method': fc.constantFrom('tools/call', 'tools/list'),
    'Mcp-Name': fc.constantFrom('list_tasks', '=?base64?bGlzdF90YXNrcw==?='),
  },
  { requiredKeys: [] },
);

test(`[RPC-2] any message gets a JSON-RPC response or 202, never a 5xx (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(body, headers, fc.boolean(), async (value, given, hasKey) => {
      const key = hasKey ? withKey(owner.mcp_key) : {};
      checkAnswer(await post(hub, JSON.stringify(value), { ...given, ...key }));
    }),
    bounded(100),
  );
});

test(`[RPC-2] any cut, doubled or replaced text gets a JSON-RPC response or 202 (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(mutated, async (text) => checkAnswer(await post(hub, text, withKey(owner.mcp_key)))),
    bounded(75),
  );
});

test(`[RPC-2] any bytes get a JSON-RPC response (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => checkAnswer(await post(hub, bytes))),
    bounded(40),
  );
});

test(`[RPC-4, RPC-5] a batch gets one response per item with an id, as an array and as lines (seed ${seed})`, async () => {
  const item = fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
    method: fc.constantFrom('tools/call', 'ping', 'nope'),
    params: callParams,
  });
  const notice = fc.constant({ jsonrpc: '2.0', method: 'notifications/cancelled' });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(item, notice), { minLength: 1, maxLength: 20 }), async (items) => {
      const ids = items.flatMap((one) => ('id' in one ? [String(one.id)] : [])).sort();
      for (const accept of ['application/json', NDJSON]) {
        const answer = await post(hub, JSON.stringify(items), { ...withKey(owner.mcp_key), Accept: accept });
        const found = answer.status === 202 ? [] : accept === NDJSON ? linesOf(answer) : repliesOf(answer);
        expect(found.map(({ id }) => String(id)).sort()).toEqual(ids);
      }
    }),
    bounded(25),
  );
});

interface Property {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Property[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

const day = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
  .map((date) => date.toISOString().slice(0, 10));

/** Values that a property takes, or nearly. */
function generated(property: Property, name: string): fc.Arbitrary<unknown> {
  if (property.enum !== undefined) return fc.constantFrom(...property.enum);
  if (property.anyOf !== undefined) return fc.oneof(...property.anyOf.map((one) => generated(one, name)));
  switch (property.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.oneof(
        fc.integer({ min: property.minimum ?? 0, max: Math.min(property.maximum ?? 50, 50) }),
        fc.integer(),
      );
    case 'string':
      if (name === 'timezone') return fc.constantFrom('UTC', 'Asia/Seoul', 'Mars/Olympus');
      if (/_(date|from|to)$/.test(name))
        return fc.oneof({ weight: 9, arbitrary: day }, { weight: 1, arbitrary: fc.string() });
      return fc.oneof(fc.string({ unit: 'binary', maxLength: Math.min(property.maxLength ?? 100, 300) }), fc.string());
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue();
  }
}

function argumentsOf(tool: ListedTool): fc.Arbitrary<Record<string, unknown>> {
  const schema = schemas.get(tool.name) ?? {};
  const properties = Object.entries(schema['properties'] as Record<string, Property>);
  const required = new Set((schema['required'] ?? []) as string[]);
  const shape = Object.fromEntries(
    properties.map(([name, property]) => {
      const value: fc.Arbitrary<unknown> = fc.oneof(
        { weight: 12, arbitrary: generated(property, name) },
        fc.jsonValue(),
      );
      const absent = fc.constant(undefined);
      return [name, required.has(name) ? value : fc.oneof({ weight: 5, arbitrary: absent }, value)];
    }),
  );
  const junk = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 });
  const known = fc.record(shape);
  return fc.oneof(
    { weight: 8, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, junk).map(([one, more]) => ({ ...one, ...more })) },
  );
}

/** Every tool is called up to 600 times, one call after another, for as long as its share of the time lasts. */
const SECONDS_MAX = 100;

/** A share for each of so many tools, with a fifth of the time left over: each more tool would make the test longer. */
const shared = (count: number, among: readonly ListedTool[]) => ({
  ...bounded(count),
  interruptAfterTimeLimit: Math.min(8000, Math.floor((SECONDS_MAX * 800) / among.length)),
});

/** What the tools answered, by tool; a tool that never succeeds proves nothing. */
const successes = new Map<string, number>();

test(
  `[TOOL-1, TOOL-5] any arguments of any tool get a result true to its schema, or a refusal (seed ${seed})`,
  async () => {
    const called = tools.filter(({ name }) => !name.endsWith('_and_get_key'));
    for (const tool of called) {
      await fc.assert(
        fc.asyncProperty(argumentsOf(tool), async (args) => {
          const answer = await post(hub, toolRequest(1, tool.name, args), withKey(owner.mcp_key));
          const reply = replyOf(answer);
          expect(answer.status).toBe(200);
          checkReply(reply);
          if (reply.result === undefined) {
            if (reply.error?.code === -32602) expect(reply.error.data?.['field']).toEqual(expect.any(String));
            return;
          }
          const check = checks.get(tool.name);
          expect([check?.(reply.result['structuredContent']), check?.errors]).toEqual([true, null]);
          successes.set(tool.name, (successes.get(tool.name) ?? 0) + 1);
        }),
        shared(120, called),
      );
    }
    for (const name of ['list_tasks', 'create_task', 'update_task', 'list_categories', 'get_setup_guide']) {
      expect(successes.get(name), name).toBeGreaterThan(0);
    }
  },
  3 * SECONDS_MAX * 1000,
);

test(
  `[TOOL-2] the mirror refuses what the gateway refuses, with its status (seed ${seed})`,
  async () => {
    const statusOf = new Map([
      [0, 200],
      [-32602, 422],
      [-32005, 404],
    ]);
    const reads = tools.filter(({ annotations }) => annotations['readOnlyHint'] === true);
    // What a search finds while it indexes the account is of that moment.
    const isIndexed = async () =>
      (await structured<{ complete: boolean }>(hub, 'search', { query: 'x' }, owner.mcp_key)).complete;
    await expect.poll(isIndexed, { timeout: 60_000 }).toBe(true);
    for (const tool of reads) {
      await fc.assert(
        fc.asyncProperty(argumentsOf(tool), async (args) => {
          const direct = replyOf(await post(hub, toolRequest(1, tool.name, args), withKey(owner.mcp_key)));
          const mirrored = await mirrorTool(hub, tool.name, args, withKey(owner.mcp_key));
          expect(mirrored.status).toBe(statusOf.get(direct.error?.code ?? 0));
          // What a tool says of its own time is of another moment.
          const sameTime = { server_time: expect.anything() };
          const structured = direct.result?.['structuredContent'] as object;
          const expected = 'server_time' in (structured ?? {}) ? { ...structured, ...sameTime } : structured;
          if (direct.error === undefined) expect(mirrored.json()).toEqual(expected);
          else expect(mirrored.json()).toMatchObject({ error: direct.error.message, code: direct.error.code });
        }),
        shared(60, reads),
      );
    }
  },
  3 * SECONDS_MAX * 1000,
);
