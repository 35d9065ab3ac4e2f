/** The tools behind both doors: what is listed of them, what each refusal looks like, and that their examples work. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  accessToken,
  argumentSchemas,
  callTool,
  GATEWAY,
  type ListedTool,
  listTools,
  mirrorTool,
  PASSWORD,
  post,
  replyOf,
  request,
  structured,
  withKey,
} from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { eachExample } from '../support/tool-examples.ts';

type Task = { id: number; content: string; completed: boolean };

let hub: Hub;
let owner: Account;
let tools: ListedTool[];
let checks: Map<string, ValidateFunction>;

beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
  tools = await listTools(hub);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  checks = new Map(tools.map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
});

const NAMES = [
  'list_tasks',
  'create_task',
  'update_task',
  'delete_task',
  'list_categories',
  'create_category',
  'update_category',
  'delete_category',
  'set_timezone',
  'list_papers',
  'get_paper',
  'create_paper',
  'update_paper',
  'publish_paper',
  'delete_paper',
  'create_dev_doc',
  'list_dev_docs',
  'get_dev_doc',
  'update_dev_doc',
  'pull_dev_docs',
  'delete_dev_doc',
  'list_dev_categories',
  'handoff_save',
  'handoff_list',
  'handoff_get',
  'signup_and_get_key',
  'login_and_get_key',
  'get_setup_guide',
];

test('[TOOL-1] the tools of the interface are listed, each with all that describes it', () => {
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(NAMES));
  for (const tool of tools) {
    expect(Object.keys(tool).sort()).toEqual([
      'annotations',
      'description',
      'inputSchema',
      'name',
      'outputSchema',
      'title',
    ]);
    expect(tool.name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
    expect(tool.description.length).toBeGreaterThan(10);
    expect(tool.description.match(/[.!?](?=\s|$)/g)?.length ?? 0).toBeLessThanOrEqual(2);
    expect(tool.title).toMatch(/^[A-Z].{3,39}$/);
    expect(tool.inputSchema).toMatchObject({ type: 'object', properties: {} });
    expect(tool.outputSchema).toMatchObject({ type: 'object' });
  }
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
});

test('[TOOL-1] the order is stable, whoever asks and however often', async () => {
  const token = await accessToken(hub, owner.email);
  for (const headers of [{}, withKey(owner.mcp_key), { Authorization: `Bearer ${token}` }]) {
    expect(await listTools(hub, headers)).toEqual(tools);
  }
});

test('[MCP-8] the list for programs is at most 5,500 tokens: bounds are checked, not listed', async () => {
  const listed = await listTools(hub, {}, GATEWAY);
  const chars = listed.map(({ description, inputSchema }) => description.length + JSON.stringify(inputSchema).length);
  const tokens = Math.ceil(chars.reduce((sum, one) => sum + one, 0) / 4);
  expect(tokens).toBeLessThanOrEqual(5500);
  expect(JSON.stringify(tools)).not.toMatch(/"(?:max|min)Length":|9007199254740991/);
  // The document of the mirror still says what is checked.
  const schemas = await argumentSchemas(hub);
  for (const { name, inputSchema } of tools.filter(
    ({ name: one }) => !one.startsWith('sync_push_') && one !== 'vault_sync',
  )) {
    expect(schemas.get(name)).toMatchObject(inputSchema);
  }
});

test('[MCP-8] a client is told in about 150 words what there is and which tools to use', async () => {
  const { result } = replyOf(await post(hub, request(1, 'initialize', { protocolVersion: '2025-11-25' })));
  const told = String(result?.['instructions']);
  const words = told.split(/\s+/).length;
  expect(words).toBeGreaterThan(100);
  expect(words).toBeLessThanOrEqual(170);
  const named = told.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
  const known = [...tools.map(({ name }) => name), 'due_today', 'base_sha'];
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
  for (const name of ['list_tasks', 'add_tasks', 'handoff_save', 'settle_conflict']) expect(named).toContain(name);
});

test('[MCP-8] vault_sync lists the arguments of status and takes those of its other actions', async () => {
  const listed = tools.find(({ name }) => name === 'vault_sync')?.inputSchema ?? {};
  expect(Object.keys(listed['properties'] as object)).toEqual([
    'action',
    'manifest',
    'bases',
    'executables',
    'prefix',
    'vault_id',
    'idempotency_key',
  ]);
  // A client that checks the arguments by the list lets the others pass.
  const check = new Ajv2020({ strict: false }).compile(listed);
  const args = { action: 'list', prefix: 'notes/', include_deleted: true };
  expect([check(args), check.errors]).toEqual([true, null]);
  expect(await structured(hub, 'vault_sync', args, owner.mcp_key)).toMatchObject({ files: [] });
});

const destructive = [
  'delete_task',
  'delete_dev_doc',
  'vault_sync',
  'remove',
  'vault_delete',
  'sync_restore_folder',
  'handoff_list',
  'delete_category',
  'delete_paper',
];
const openWorld = ['vault_create', 'signup_and_get_key'];
const reads = [
  'search',
  'fetch',
  'list_backups',
  'list_tasks',
  'list_categories',
  'list_papers',
  'get_paper',
  'list_dev_docs',
  'get_dev_doc',
  'pull_dev_docs',
  'list_dev_categories',
  'handoff_get',
  'get_setup_guide',
];
const repeatable = [
  ...reads,
  'update_category',
  'delete_category',
  'update_paper',
  'publish_paper',
  'delete_paper',
  'set_timezone',
  'update_task',
  'delete_task',
  'delete_dev_doc',
  'handoff_save',
  'handoff_list',
];

test('[TOOL-4] each tool carries the four hints, and they are the ones of the rule', () => {
  for (const { name, annotations } of tools.filter((tool) => NAMES.includes(tool.name))) {
    expect([name, annotations]).toEqual([
      name,
      {
        readOnlyHint: reads.includes(name),
        destructiveHint: destructive.includes(name),
        idempotentHint: repeatable.includes(name),
        openWorldHint: openWorld.includes(name),
      },
    ]);
  }
});

test('[TOOL-4] no tool is destructive or open-world but those of the rule, and none both reads and destroys', () => {
  for (const { name, annotations } of tools) {
    expect([name, annotations['destructiveHint']]).toEqual([name, destructive.includes(name)]);
    expect([name, annotations['openWorldHint']]).toEqual([name, openWorld.includes(name)]);
    expect(Object.values(annotations).map((hint) => typeof hint)).toEqual(Array(4).fill('boolean'));
    if (annotations['readOnlyHint'] === true) expect(annotations['destructiveHint']).toBe(false);
  }
});

interface Property {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Property[];
  readonly items?: Property;
  readonly [keyword: string]: unknown;
}

/** What of a schema is not bounded. */
function unbounded(name: string, property: Property): string[] {
  const inner = [...(property.anyOf ?? []), ...(property.items === undefined ? [] : [property.items])];
  const below = inner.flatMap((one) => unbounded(name, one));
  const isFree = property['enum'] === undefined && property['const'] === undefined;
  const lacks = (...keywords: string[]) => isFree && keywords.some((keyword) => property[keyword] === undefined);
  const types: readonly (string | undefined)[] = [property.type].flat();
  if (types.includes('string') && lacks('maxLength')) return [name, ...below];
  if ((types.includes('integer') || types.includes('number')) && lacks('minimum', 'maximum')) return [name, ...below];
  return below;
}

test('[TOOL-5] every number has bounds and every string a length', async () => {
  const schemas = await argumentSchemas(hub);
  for (const tool of tools) {
    const schema = schemas.get(tool.name) ?? {};
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    const properties = Object.entries(schema['properties'] as Record<string, Property>);
    expect([tool.name, properties.flatMap(([name, property]) => unbounded(name, property))]).toEqual([tool.name, []]);
  }
});

/** Calls every example; gives the results that are not true to their output schema. */
async function runExamples(target: Hub, run: (name: string, args: unknown) => Promise<unknown>): Promise<string[]> {
  const wrong: string[] = [];
  await eachExample(target, async (name, args) => {
    const check = checks.get(name);
    const result = await run(name, args);
    if (check?.(result) !== true) wrong.push(`${name}: ${JSON.stringify(check?.errors)}`);
    return result;
  });
  return wrong;
}

test('[TOOL-1] every example works over the gateway, with a result true to the output schema', async () => {
  const { mcp_key: key } = await account(hub);
  expect(await runExamples(hub, (name, args) => structured(hub, name, args, key))).toEqual([]);
});

test('[TOOL-2] every example works over the tool mirror, with a result true to the output schema', async () => {
  const other = await startHub();
  try {
    const { mcp_key: key } = await account(other);
    const run = async (name: string, args: unknown) => {
      const answer = await mirrorTool(other, name, args, withKey(key));
      expect([name, answer.status, answer.headers['content-type']]).toEqual([name, 200, expect.stringMatching(/json/)]);
      return answer.json();
    };
    expect(await runExamples(other, run)).toEqual([]);
  } finally {
    await other.stop();
  }
});

test('[TOOL-2] both doors give the same structured result', async () => {
  for (const [name, args] of [
    ['list_categories', {}],
    ['get_setup_guide', { client: 'cursor' }],
    ['list_tasks', { limit: 3 }],
  ] as const) {
    const answer = await mirrorTool(hub, name, args, withKey(owner.mcp_key));
    expect(answer.json()).toEqual(await structured(hub, name, args, owner.mcp_key));
  }
});

const refusals: readonly (readonly [string, string, unknown, number, Record<string, unknown>])[] = [
  ['a missing argument', 'create_task', {}, 422, { code: -32602, data: { field: 'content' }, errors: {} }],
  ['a wrong type', 'list_tasks', { limit: 'x' }, 422, { code: -32602, data: { field: 'limit' } }],
  ['an empty content', 'create_task', { content: '' }, 422, { code: -32602, data: { field: 'content' } }],
  ['a blank content', 'create_task', { content: '   ' }, 422, { code: -32602, data: { field: 'content' } }],
  ['an unknown argument', 'delete_task', { id: 1, idd: 2 }, 422, { code: -32602, data: { field: 'idd' } }],
  ['a list', 'create_task', [], 422, { code: -32602, data: { field: 'arguments' } }],
  ['a string', 'create_task', '"x"', 422, { code: -32602, data: { field: 'arguments' } }],
  ['a task that is not there', 'delete_task', { id: 404 }, 404, { code: -32005 }],
  ['an unknown tool', 'creat_task', {}, 404, { code: -32602, data: { field: 'name' } }],
  ['a name of every object', 'constructor', {}, 404, { code: -32602 }],
  ['no JSON', 'create_task', '{"content":', 400, { code: -32700 }],
  ['a wrong login', 'login_and_get_key', { email: 'no@example.org', password: PASSWORD }, 401, { code: -32001 }],
];

test.each(refusals)(
  '[TOOL-2] %s is refused over the mirror as REST, with the code',
  async (_, name, args, status, body) => {
    const answer = await mirrorTool(hub, name, args, withKey(owner.mcp_key));
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject({ error: expect.any(String), ...body });
  },
);

test('[TOOL-2] without a key a tool of an account is 401, an unknown tool 404, an open tool answers', async () => {
  const answer = await mirrorTool(hub, 'list_tasks');
  expect([answer.status, answer.json()]).toMatchObject([401, { error: expect.any(String), code: -32001 }]);
  expect(answer.headers['www-authenticate']).toMatch(/^McpKey/);
  expect((await mirrorTool(hub, 'no_tool')).status).toBe(404);
  expect((await mirrorTool(hub, 'get_setup_guide')).status).toBe(200);
});

test('[TOOL-2] an empty body is no arguments; other methods and media types are refused', async () => {
  expect((await mirrorTool(hub, 'list_categories', '', withKey(owner.mcp_key))).status).toBe(200);
  const got = await call(hub, '/api/mcp/tools/list_tasks', { headers: withKey(owner.mcp_key) });
  expect([got.status, got.headers['allow']]).toEqual([405, expect.stringContaining('POST')]);
  const text = await mirrorTool(hub, 'list_tasks', {}, { 'Content-Type': 'text/plain' });
  expect([text.status, text.json()]).toMatchObject([415, { error: expect.any(String) }]);
});

const slips: readonly (readonly [string, unknown, string, string])[] = [
  ['list_tasks', { limt: 5 }, 'limt', 'did you mean limit?'],
  ['list_tasks', { DUE_TODAY: true }, 'DUE_TODAY', 'did you mean due_today?'],
  ['create_task', { content: 'x', is_importent: true }, 'is_importent', 'did you mean is_important?'],
  ['get_setup_guide', { clients: 'cursor' }, 'clients', 'did you mean client?'],
  ['delete_task', { id: 1, completely_else: true }, 'completely_else', 'known fields: id'],
  ['list_categories', { constructor: 1 }, 'constructor', 'known fields: none'],
  ['list_categories', { toString: 1 }, 'toString', 'known fields: none'],
];

test.each(slips)('[TOOL-5] %s refuses %j and says what was meant', async (name, args, field, hint) => {
  const { error } = await callTool(hub, name, args, owner.mcp_key);
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(hint), data: { field } });
});

test('[TOOL-5] an argument named __proto__ is refused like any other', async () => {
  const answer = await mirrorTool(hub, 'list_categories', '{"__proto__":{"x":1}}', withKey(owner.mcp_key));
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('__proto__ is not a known field')]);
});

test('[TOOL-5] a long name and a host of names are refused in a short answer', async () => {
  const host = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`argument${n}`, n]));
  for (const args of [{ ['x'.repeat(200_000)]: 1 }, host]) {
    const answer = await mirrorTool(hub, 'list_tasks', args, withKey(owner.mcp_key));
    expect(answer.status).toBe(422);
    expect(answer.bytes.length).toBeLessThan(20_000);
  }
});

test('[TOOL-2, TOOL-4] a task that is made, changed, deleted and restored by tools is seen so over REST', async () => {
  const { mcp_key: key, email } = await account(hub);
  const token = await accessToken(hub, email);
  const rest = (path: string) => call(hub, `/api/tasks${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const { task } = await structured<{ task: Task }>(hub, 'create_task', { content: 'both doors' }, key);
  expect((await rest(`/${task.id}`)).json()).toEqual(task);
  const done = await mirrorTool(hub, 'update_task', { id: task.id, completed: true }, withKey(key));
  expect((await rest(`/${task.id}`)).json()).toEqual(done.json()['task']);
  const first = await callTool(hub, 'delete_task', { id: task.id }, key);
  expect(await callTool(hub, 'delete_task', { id: task.id }, key)).toEqual(first);
  expect([(await rest(`/${task.id}`)).status, (await rest('')).json()['data']]).toEqual([404, []]);
  await structured(hub, 'update_task', { id: task.id, restore: true }, key);
  expect((await rest(`/${task.id}`)).json()).toMatchObject({ id: task.id, completed: true });
});

test('[TASK-8] a tool that changes a task from another version is refused with the current task', async () => {
  const { mcp_key: key } = await account(hub);
  const { task } = await structured<{ task: Task }>(hub, 'create_task', { content: 'mine' }, key);
  const yours = await structured<{ task: Task }>(hub, 'update_task', { id: task.id, content: 'yours' }, key);
  const { error } = await callTool(hub, 'update_task', { id: task.id, content: 'later', expected_version: 1 }, key);
  expect(error).toEqual({
    code: -32006,
    message: expect.stringMatching(
      /^the task is at version 2, not 1; if .* send it with expected_version 2\. The task is now: #\d+ yours \(version 2/,
    ),
    data: { expected_version: 1, current_version: 2, task: yours.task },
  });
});

test('[TOOL-2] a task that was made over REST is seen by the tools', async () => {
  const { mcp_key: key, email } = await account(hub);
  const headers = { Authorization: `Bearer ${await accessToken(hub, email)}`, 'Content-Type': 'application/json' };
  const made = await call(hub, '/api/tasks', { method: 'POST', headers, body: '{"content":"by REST"}' });
  expect(made.status).toBe(201);
  const { tasks } = await structured<{ tasks: Task[] }>(hub, 'list_tasks', {}, key);
  expect(tasks).toEqual([made.json()]);
});
