/** Batches: one answer per item, matched by id, none harmed by another. */
import { beforeAll, expect, test } from 'vitest';
import {
  linesOf,
  NDJSON,
  PASSWORD,
  post,
  type RpcReply,
  repliesOf,
  request,
  structured,
  structuredOf,
  toolRequest,
  withKey,
} from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

type Task = { id: number; content: string };

const hub = useHub({ loudest: 40 });
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const send = (body: unknown, headers = {}) => post(hub, body, { ...withKey(owner.mcp_key), ...headers });
const LIST = 'tools/list';
const ping = (id: unknown) => request(id, 'ping');
const notice = { jsonrpc: '2.0', method: 'notifications/cancelled' };
const byId = (replies: readonly RpcReply[]) => new Map(replies.map((reply) => [reply.id, reply]));

test('[RPC-4] a batch is answered by an array with one entry per request', async () => {
  const answer = await send([ping(1), ping('1'), request(0, LIST), ping(null), notice]);
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(repliesOf(answer)).toHaveLength(4);
  const replies = byId(repliesOf(answer));
  for (const id of [1, '1', null]) expect(replies.get(id)).toEqual({ jsonrpc: '2.0', id, result: {} });
  expect(replies.get(0)?.result?.['tools']).toBeInstanceOf(Array);
});

test('[RPC-4] a batch of one is answered by an array of one', async () => {
  expect(repliesOf(await send([ping(1)]))).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
});

test('[RPC-4] an empty batch is one -32600', async () => {
  const answer = await send([]);
  expect([answer.status, answer.json()]).toMatchObject([200, { jsonrpc: '2.0', id: null, error: { code: -32600 } }]);
});

test.each([
  ['[1]', [1], [[null, -32600]]],
  ['[[]]', [[]], [[null, -32600]]],
  ['[1,2,3]', [1, 2, 3], [1, 2, 3].map(() => [null, -32600])],
  ['[null]', [null], [[null, -32600]]],
  ['a request without a method', [{ jsonrpc: '2.0', id: 4 }], [[4, -32600]]],
  ['a batch within a batch', [[ping(1)]], [[null, -32600]]],
])('[RPC-4] junk gets its own -32600: %s', async (_, body, expected) => {
  expect(repliesOf(await send(body)).map(({ id, error }) => [id, error?.code])).toEqual(expected);
});

test('[RPC-4] good items are answered beside junk, unknown methods and refused calls', async () => {
  const replies = repliesOf(
    await send([
      'junk',
      toolRequest('task', 'create_task', { content: 'kept' }),
      request('nope', 'nope'),
      toolRequest('bad', 'create_task', { content: '' }),
      toolRequest('proto', 'create_task', { content: 'x', constructor: 1 }),
      { jsonrpc: '2.0', id: {}, method: LIST },
      notice,
      toolRequest('gone', 'delete_task', { id: 4040 }),
      ping('last'),
    ]),
  );
  expect(replies).toHaveLength(8);
  const codes = replies.map(({ id, error }) => `${id} ${error?.code ?? 0}`);
  expect(codes.sort()).toEqual([
    'bad -32602',
    'gone -32005',
    'last 0',
    'nope -32601',
    'null -32600',
    'null -32600',
    'proto -32602',
    'task 0',
  ]);
});

test('[RPC-4, RPC-3] a batch of only notifications is 202 without a body', async () => {
  const answer = await send([notice, notice, { jsonrpc: '2.0', id: 1, result: {} }]);
  expect([answer.status, answer.text]).toEqual([202, '']);
});

test('[RPC-4] duplicate ids are each answered', async () => {
  const replies = repliesOf(
    await send([toolRequest(1, 'create_task', { content: 'one' }), toolRequest(1, 'create_task', { content: 'two' })]),
  );
  expect(replies.map(({ id }) => id)).toEqual([1, 1]);
  const contents = replies.map((reply) => structuredOf<{ task: Task }>(reply).task.content);
  expect(contents.sort()).toEqual(['one', 'two']);
});

test('[RPC-4] 100 items are answered, 101 are refused whole and none of them runs', async () => {
  const creates = (count: number, content: string) =>
    Array.from({ length: count }, (_, n) => toolRequest(n, 'create_task', { content }));
  const replies = repliesOf(await send(creates(100, 'hundred')));
  expect(replies.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual([...Array(100).keys()]);
  const ids = replies.map((reply) => structuredOf<{ task: Task }>(reply).task.id);
  expect(new Set(ids).size).toBe(100);
  const refused = (await send(creates(101, 'toomany'))).json() as unknown as RpcReply;
  expect(refused).toMatchObject({ id: null, error: { code: -32600, message: expect.stringContaining('100') } });
  expect(await structured(hub, 'list_tasks', { search: 'toomany' }, owner.mcp_key)).toMatchObject({ count: 0 });
});

test('[RPC-4, RPC-5] items run at the same time: a quick one is told before a slow one in front of it', async () => {
  const email = 'slow@example.org';
  const answer = await send([toolRequest('slow', 'signup_and_get_key', { email, password: PASSWORD }), ping('quick')], {
    Accept: NDJSON,
  });
  expect(answer.headers['content-type']).toBe(NDJSON);
  expect(linesOf(answer).map(({ id }) => id)).toEqual(['quick', 'slow']);
});

test('[RPC-5] a batch of junk travels one response per line as well', async () => {
  const answer = await send([1, ping(2), request(3, 'nope')], { Accept: NDJSON });
  const lines = linesOf(answer);
  expect(lines.map(({ id }) => String(id)).sort()).toEqual(['2', '3', 'null']);
  expect(lines.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
});

test('[RPC-5] only notifications stay 202 when lines are asked for', async () => {
  const answer = await send([notice], { Accept: NDJSON });
  expect([answer.status, answer.text]).toEqual([202, '']);
});

test('[RPC-4] batches of many callers at once are each answered whole and from their own account', async () => {
  const others = await Promise.all([account(hub), account(hub), account(hub)]);
  await Promise.all(
    others.map(async ({ mcp_key: key, account_id: id }) => {
      const batch = Array.from({ length: 30 }, (_, n) => toolRequest(n, 'create_task', { content: id }));
      expect(repliesOf(await post(hub, batch, withKey(key)))).toHaveLength(30);
    }),
  );
  for (const { mcp_key: key, account_id: id } of others) {
    const { tasks } = await structured<{ tasks: Task[] }>(hub, 'list_tasks', { limit: 500 }, key);
    expect([tasks.length, new Set(tasks.map(({ content }) => content))]).toEqual([30, new Set([id])]);
  }
});
