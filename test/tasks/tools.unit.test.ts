/** Proves the tools over tasks by calling them as the gateway does: arguments through the schema, results against it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { jsonSchema } from '../../src/fields/json-schema.ts';
import { readFields } from '../../src/fields/read.ts';
import { JsonText, type Tool, type ToolResult } from '../../src/gateway/tool.ts';
import { taskTools } from '../../src/tasks/tools.ts';
import { UTC } from '../../src/time/zone.ts';
import { type Desk, faultOf, openDesk, refusedFields, START_MS } from './support.ts';

const CALLER = {
  address: '127.0.0.1',
  agent: 'test',
  baseUrl: 'http://127.0.0.1',
  lines: 'never' as const,
  linger: () => undefined,
  charge: () => undefined,
  note: {},
  callsAtOnceMax: 1,
};
let desk: Desk;
let tools: Map<string, Tool>;
let accounts = 0;
let accountId = '';

beforeAll(() => {
  desk = openDesk();
  tools = new Map(taskTools(desk.tasks, { of: () => UTC, tables: [] }, () => 'agent').map((tool) => [tool.name, tool]));
});

beforeEach(() => {
  accounts += 1;
  accountId = `acc_${accounts}`;
  desk.clock.ms = START_MS;
});

afterAll(() => desk.close());

type Listed = { tasks: { id: number; content: string }[]; count: number; has_more: boolean; complete: boolean };

/** Calls a tool; the result must be what its output schema says, no more and no less. */
async function run<T = Record<string, unknown>>(name: string, args: object): Promise<{ result: T; text: string }> {
  const tool = tools.get(name);
  if (tool?.access !== 'account') throw new Error(`${name} is not a tool over an account`);
  const answer = (await tool.handle(
    readFields(tool.input, args, 'arguments'),
    { accountId, credentialId: 'key' },
    CALLER,
  )) as ToolResult<T>;
  const { structured } = answer;
  const result = structured instanceof JsonText ? (JSON.parse(structured.text) as T) : structured;
  expect(tool.output.strict().parse(result)).toEqual(result);
  return { result, text: answer.text };
}

const list = async (args: object) => (await run<Listed>('list_tasks', args)).result;
const ids = async (args: object) => (await list(args)).tasks.map(({ id }) => id);

test('[TASK-5, TASK-6] the tools are these, described, bounded, and true to their schemas', async () => {
  expect([...tools.keys()]).toEqual([
    'list_tasks',
    'create_task',
    'update_task',
    'delete_task',
    'create_category',
    'list_categories',
    'update_category',
    'delete_category',
  ]);
  for (const tool of tools.values()) {
    tool.input.parse(tool.example);
    expect(tool.description.split('. ').length).toBeLessThanOrEqual(2);
    const schema = jsonSchema(tool.input, 'input') as {
      properties: Record<string, object>;
      additionalProperties: boolean;
    };
    expect(z.toJSONSchema(tool.output)).toMatchObject({ type: 'object' });
    expect(schema.additionalProperties).toBe(false);
    for (const property of Object.values(schema.properties)) {
      const shown = JSON.stringify(property);
      if (shown.includes('"type":"string"')) expect(shown).toMatch(/"enum"|"maxLength"/);
      if (shown.includes('"type":"integer"')) expect(shown).toMatch(/"maximum".*"minimum"|"minimum".*"maximum"/);
    }
  }
  expect(tools.get('delete_task')?.annotations).toMatchObject({ destructiveHint: true, idempotentHint: true });
  expect(tools.get('list_tasks')?.annotations.readOnlyHint).toBe(true);
});

test('[TASK-5] a list is 25 tasks unless a limit is given, and says that there are more', async () => {
  for (let n = 0; n < 30; n += 1) await desk.tasks.create(accountId, { content: `t${n}` });
  const { result, text } = await run<Listed>('list_tasks', {});
  expect([result.count, result.has_more, result.complete]).toEqual([25, true, true]);
  expect(result.tasks[0]?.id).toBe(30);
  expect(text.split('\n').length).toBe(26);
  expect(text).toMatch(/^25 tasks \(there are more/);
  expect((await list({ limit: 500 })).count).toBe(30);
  expect((await list({ limit: 30 })).has_more).toBe(false);
  const next = await list({ limit: 20, offset: 20 });
  expect([next.tasks.map(({ id }) => id), next.has_more]).toEqual([[10, 9, 8, 7, 6, 5, 4, 3, 2, 1], false]);
  expect(await list({ offset: 30 })).toMatchObject({ count: 0, has_more: false });
  expect(await list({ search: 't2', sort_order: 'asc', offset: 1, limit: 2 })).toMatchObject({
    tasks: [{ content: 't20' }, { content: 't21' }],
    has_more: true,
  });
  for (const limit of [0, 501, 1.5]) expect(tools.get('list_tasks')?.input.safeParse({ limit }).success).toBe(false);
});

test('[TASK-5] today and overdue are counted in the time zone that is given', async () => {
  desk.clock.ms = Date.parse('2026-11-20T20:00:00Z');
  for (const due of ['2026-11-19', '2026-11-20', '2026-11-21', null]) {
    await desk.tasks.create(accountId, { content: 'a', due_date: due });
  }
  await desk.tasks.create(accountId, { content: 'done', due_date: '2026-11-19', completed: true });
  expect(await ids({ due_today: true })).toEqual([2]);
  expect(await ids({ due_today: true, timezone: 'Asia/Seoul' })).toEqual([3]);
  expect(await ids({ overdue: true })).toEqual([1]);
  expect(await ids({ overdue: true, timezone: 'Asia/Seoul', sort_by: 'due_date' })).toEqual([1, 2]);
  expect(await ids({ overdue: true, completed: true })).toEqual([]);
  expect(await ids({ overdue: true, due_today: true, sort_by: 'due_date' })).toEqual([1, 2]);
  expect(await ids({ overdue: false, due_today: false })).toHaveLength(5);
  expect(Object.keys(await refusedFields(() => run('list_tasks', { timezone: 'Mars/Olympus' })))).toEqual(['timezone']);
});

test('[TASK-5] filters, texts, days and orders hold together', async () => {
  const { tasks, clock } = desk;
  await tasks.categories.create(accountId, { name: 'home' });
  await tasks.create(accountId, { content: 'Buy MILK', category_id: 1, due_date: '2026-11-25', is_important: true });
  clock.ms = Date.parse('2026-11-21T23:30:00Z');
  await tasks.create(accountId, { content: 'milk the cow', kanban_status: 'in_progress' });
  clock.ms = Date.parse('2026-11-22T12:00:00Z');
  await tasks.create(accountId, { content: 'rest', completed: true });
  expect(await ids({ search: 'milk' })).toEqual([2, 1]);
  expect(await ids({ search: 'milk', is_important: true })).toEqual([1]);
  expect(await ids({ category_id: 1 })).toEqual([1]);
  expect(await ids({ status: 'in_progress' })).toEqual([2]);
  expect(await ids({ completed: false, sort_order: 'asc' })).toEqual([1, 2]);
  expect(await ids({ due_from: '2026-11-25', due_to: '2026-11-25' })).toEqual([1]);
  expect(await ids({ due_to: '2026-11-24' })).toEqual([]);
  expect(await ids({ created_from: '2026-11-22' })).toEqual([3]);
  expect(await ids({ created_from: '2026-11-22', timezone: 'Europe/Berlin' })).toEqual([3, 2]);
  expect(await ids({ created_to: '2026-11-21', sort_by: 'content' })).toEqual([1, 2]);
  expect(await ids({ completed_from: '2026-11-22', completed_to: '2026-11-22' })).toEqual([3]);
  expect(await ids({ completed_to: '2026-11-21' })).toEqual([]);
  expect(await ids({ sort_by: 'is_important' })).toEqual([1, 3, 2]);
});

test.each([
  [{ due_from: '2026-02-30' }, ['due_from']],
  [{ due_from: '20261120aa', created_to: 'yesterdays' }, ['created_to', 'due_from']],
  [{ due_from: '2026-11-21', due_to: '2026-11-20' }, ['due_to']],
  [{ completed_from: '2026-11-21', completed_to: '2026-11-20' }, ['completed_to']],
])('[TASK-5] wrong days are refused: %j', async (args, fields) => {
  expect(Object.keys(await refusedFields(() => run('list_tasks', args))).sort()).toEqual(fields);
});

test('[TASK-5] a search that cannot look at all tasks says so', async () => {
  const made = Array.from({ length: 20_001 }, (_, n) => ({ content: n === 0 ? 'needle' : 'hay' }));
  for (let first = 0; first < made.length; first += 1000) {
    await Promise.all(made.slice(first, first + 1000).map((fields) => desk.tasks.create(accountId, fields)));
  }
  const { result, text } = await run('list_tasks', { search: 'needle' });
  expect(result).toEqual({ tasks: [], count: 0, has_more: true, complete: false });
  expect(text).toBe('0 tasks among the first 20000; narrow the filters to look at the rest');
  expect(await ids({ search: 'needle', sort_order: 'asc', limit: 1 })).toEqual([1]);
}, 240_000);

test('[TASK-5, TASK-6] create, update, delete and restore answer with the task, and the same again', async () => {
  const made = await run('create_task', { content: 'Ship\nit', due_date: '2026-11-21', is_important: true });
  expect(made.text).toBe('created #1 Ship (due 2026-11-21, important, version 1, created 2026-11-20T12:00Z)\n  it');
  const update = { id: 1, completed: true, due_date: null };
  const updated = await run('update_task', update);
  expect(updated.text).toBe(
    'task is now #1 Ship (important, done, version 2, created 2026-11-20T12:00Z, completed 2026-11-20T12:00Z)\n  it',
  );
  desk.clock.ms += 1000;
  expect(await run('update_task', update)).toEqual(updated);
  const deleted = await run('delete_task', { id: 1 });
  expect(deleted.result).toEqual({ id: 1, deleted_at: new Date(START_MS + 1000).toISOString() });
  desk.clock.ms += 1000;
  expect(await run('delete_task', { id: 1 })).toEqual(deleted);
  expect(await ids({})).toEqual([]);
  expect((await faultOf(() => run('update_task', { id: 1, content: 'b' }))).kind).toBe('not_found');
  const restored = await run('update_task', { id: 1, restore: true, content: 'b' });
  expect(restored.result).toMatchObject({ task: { id: 1, content: 'b', completed: true } });
  expect(await run('update_task', { id: 1, restore: true, content: 'b' })).toEqual(restored);
  for (const name of ['update_task', 'delete_task']) {
    expect((await faultOf(() => run(name, { id: 77 }))).kind).toBe('not_found');
  }
  // What is wrong in itself is told first, then what is wrong with what the account has.
  for (const [args, field] of [
    [{ content: ' ', category_id: 9 }, 'content'],
    [{ content: 'x', category_id: 9 }, 'category_id'],
  ] as const)
    expect(Object.keys(await refusedFields(() => run('create_task', args)))).toEqual([field]);
});

test('[TASK-9] a task that repeats one of the last minutes is created, and the answer names the other', async () => {
  await run('create_task', { content: 'twice' });
  const again = await run('create_task', { content: 'twice' });
  expect(again.result).toMatchObject({ task: { id: 2 }, same_content_as: 1 });
  expect(again.text).toMatch(
    /^#1 of the last minutes has the same content: .* delete_task with id 2\ncreated #2 twice/,
  );
  await run('delete_task', { id: 2 });
  await run('delete_task', { id: 1 });
  desk.clock.ms += 1000;
  expect((await run('create_task', { content: 'twice' })).result).not.toHaveProperty('same_content_as');
  desk.clock.ms += 600_001;
  expect((await run('create_task', { content: 'twice' })).result).not.toHaveProperty('same_content_as');
  expect((await run('create_task', { content: 'other' })).result).not.toHaveProperty('same_content_as');
});

test('[TASK-9] a task that has the words in another field, or quoted, is no repetition', async () => {
  await desk.tasks.create(accountId, { content: 'another' }, 'twice');
  await desk.tasks.create(accountId, { content: '"content":"twice"' });
  await desk.tasks.create(accountId, { content: '"twice","deleted_at":"' });
  expect((await run('create_task', { content: 'twice' })).result).not.toHaveProperty('same_content_as');
  const quoted = await run('create_task', { content: '"twice","deleted_at":"' });
  expect(quoted.result).toMatchObject({ same_content_as: 3 });
});

test('[RPC-8] a long task stands whole in the text, line by line', async () => {
  const { text } = await run('create_task', { content: `${'x'.repeat(78)}\n😀${'y'.repeat(200)}` });
  const notes = '(version 1, created 2026-11-20T12:00Z)';
  expect(text).toBe(`created #1 ${'x'.repeat(78)} ${notes}\n  😀${'y'.repeat(200)}`);
});

test('[CAT-1] categories are listed with the number of their tasks', async () => {
  expect((await run('list_categories', {})).text).toBe('0 categories');
  await desk.tasks.categories.create(accountId, { name: 'home', color: '#aabbcc' });
  await desk.tasks.create(accountId, { content: 'a', category_id: 1 });
  const { result, text } = await run('list_categories', {});
  expect(result).toMatchObject({ categories: [{ id: 1, name: 'home', color: '#aabbcc', position: 0, task_count: 1 }] });
  expect(text).toBe('1 category:\n#1 home (1 task, position 0, #aabbcc)');
});
