/** Refusals in front of the handler come in the words of the surface that was asked: JSON-RPC on the gateway. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GATEWAY, replyOf, request } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type RawAnswer, type RawClient, rawClient } from '../support/raw.ts';

const TOOL = `${GATEWAY}/tools/list_tasks`;
const LIST = JSON.stringify(request(1, 'tools/list'));

let hub: Hub;

beforeAll(async () => {
  hub = await startHub({ env: { CAIRN_BODY_SECONDS: '1' } });
});

afterAll(() => hub.stop());

const post = (path: string, ...headers: string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: x', 'User-Agent: test/1', 'Content-Type: application/json', ...headers, '', ''].join(
    '\r\n',
  );

async function answerTo(client: RawClient, bytes: string): Promise<RawAnswer> {
  client.send(bytes);
  const [answer] = await client.received(1);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

const rpcError = (code: number) => ({ jsonrpc: '2.0', id: null, error: { code, message: expect.any(String) } });
const toolError = (code: number) => ({ error: expect.any(String), code });

test.each([
  [GATEWAY, rpcError(-32600)],
  [TOOL, toolError(-32600)],
  ['/api/tasks', { error: expect.any(String) }],
])('[NET-3, RPC-6] broken framing on %s is told in its words, and the connection closes', async (path, expected) => {
  const client = await rawClient(hub.port);
  const answer = await answerTo(client, post(path, 'Content-Length: 2', 'Content-Length: 3'));
  expect([answer.status, JSON.parse(answer.body)]).toEqual([400, expected]);
  await client.closed;
});

test.each([
  [GATEWAY, rpcError(-32600)],
  [TOOL, toolError(-32600)],
])(
  '[NET-7, RPC-6] a body on %s that does not come is told in its words',
  async (path, expected) => {
    const client = await rawClient(hub.port);
    const answer = await answerTo(client, `${post(path, 'Content-Length: 100')}{`);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([408, expected]);
    client.vanish();
  },
  120_000,
);

test('[MCP-1, RPC-6] another method on the gateway is 405 with Allow and a JSON-RPC error', async () => {
  const answer = await call(hub, GATEWAY);
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
  expect(replyOf(answer)).toEqual(rpcError(-32601));
});

test('[UA-1] the body for a blocked agent is the same on every surface', async () => {
  for (const path of [GATEWAY, TOOL, '/api/tasks']) {
    const answer = await call(hub, path, { method: 'POST', headers: { 'User-Agent': 'curl/8.5.0' } });
    expect([answer.status, answer.text]).toEqual([403, '{"error":"Forbidden. Your request has been blocked."}']);
  }
});

test('[OPS-3, RPC-6] while the service stops, the gateway says so as a JSON-RPC error', async () => {
  const stopping = await startHub();
  const [held, late] = [await rawClient(stopping.port), await rawClient(stopping.port)];
  // A body on its way keeps the service from ending; the other connection is known to be open by its first answer.
  await answerTo(late, `${post(GATEWAY, `Content-Length: ${LIST.length}`)}${LIST}`);
  held.send(`${post(GATEWAY, 'Content-Length: 100')}{`);
  const stopped = stopping.stop();
  await stopping.waitForLog((line) => String(line['msg']).startsWith('stopping'));
  late.send(`${post(GATEWAY, `Content-Length: ${LIST.length}`)}${LIST}`);
  const answer = (await late.received(2))[1];
  expect([answer?.status, JSON.parse(answer?.body ?? '')]).toEqual([503, rpcError(-32007)]);
  expect(answer?.headers['retry-after']).toBeDefined();
  held.vanish();
  await stopped;
}, 120_000);
