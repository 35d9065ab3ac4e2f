/** Proves that a batch's lines leave as each item is done: over a real front door, with a tool that waits for the test. */

import { randomBytes } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { OnceCalls } from '../../src/actors/once/calls.ts';
import { openLog } from '../../src/common/log.ts';
import { readGatewayBody } from '../../src/gateway/body/read-body.ts';
import { Gateway } from '../../src/gateway/gateway.ts';
import { openKnownResults } from '../../src/gateway/known-results.ts';
import { Listening } from '../../src/gateway/listening/listening.ts';
import { Offers } from '../../src/gateway/offers/offers.ts';
import { ToolRegistry } from '../../src/gateway/registry.ts';
import { gatewayRoutes } from '../../src/gateway/routes.ts';
import { defineOpenTool, READS } from '../../src/gateway/tool.ts';
import { createAuthenticator } from '../../src/http/checks/authorization.ts';
import type { FrontDoor } from '../../src/http/front-door.ts';
import { Traffic } from '../../src/http/measure/traffic.ts';
import { joined } from '../../src/http/request/body.ts';
import type { BodyParser } from '../../src/http/route/route.ts';
import { createSealer } from '../../src/store/sealing/seal.ts';
import { frontDoor } from '../support/front-door.ts';
import { GATEWAY, NDJSON, type RpcReply, request, toolRequest } from '../support/gateway.ts';

const HANDLER_SECONDS = 2;
/** More than the sockets of both sides hold. */
const LARGE_BYTES = 12 * 1024 * 1024;

/** Opened by the test; a call of the tool `gate` is done then. */
const gates = new Map<string, () => void>();
const opened = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve));

const output = z.object({ text: z.string() });
const registry = new ToolRegistry([
  defineOpenTool({
    name: 'gate',
    title: 'Gate',
    description: 'Is done when the test says so.',
    access: 'open',
    input: z.strictObject({ name: z.string().max(20) }),
    output,
    annotations: READS,
    example: { name: 'a' },
    async handle({ name }) {
      await opened(name);
      return { structured: { text: name }, text: name };
    },
  }),
  defineOpenTool({
    name: 'large',
    title: 'Large',
    description: 'Answers with much.',
    access: 'open',
    input: z.strictObject({}),
    output,
    annotations: READS,
    example: {},
    handle: () => ({ structured: { text: 'x'.repeat(LARGE_BYTES) }, text: 'much' }),
  }),
]);

const traffic = new Traffic();
let door: FrontDoor;
let port: number;

const parse: BodyParser = (parts) => readGatewayBody(joined(parts), { kind: 'messages', contentTools: [] });

beforeAll(() => {
  const { log } = openLog('silent');
  const answers = openKnownResults({ revision: () => undefined, now: Date.now });
  const once = new OnceCalls({ store: { get: () => undefined }, sealer: createSealer(randomBytes(32)), now: Date.now });
  const access = createAuthenticator({ scheme: 'McpKey', name: 'McpKey', credential: 'key', find: () => undefined });
  door = frontDoor({
    routes: gatewayRoutes({
      gateway: new Gateway({
        registry,
        answers,
        once,
        offers: new Offers({ resources: [], prompts: [] }),
        listening: new Listening({
          resources: [],
          prompts: [],
          store: { watch: () => undefined, revision: () => undefined },
          accountOfVault: () => undefined,
        }),
        states: { keyedHash: (_purpose, text) => text, now: Date.now },
        version: '0',
        icon: '/icon.svg',
        log,
      }),
      answers,
      once,
      parse: { messages: parse, args: parse },
      registry,
      access,
      metadataUrl: undefined,
      baseUrl: () => '',
    }),
    handlerSeconds: HANDLER_SECONDS,
    traffic,
  });
  port = door.listen('127.0.0.1', 0);
});

afterAll(() => door.drain(1));

/** Posts a batch and resolves with the answer when its head is there. */
function post(items: readonly unknown[]): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', Accept: NDJSON, 'User-Agent': 'test/1' };
    const sent = httpRequest({ port, host: '127.0.0.1', path: GATEWAY, method: 'POST', headers }, resolve);
    sent.once('error', reject);
    sent.end(JSON.stringify(items));
  });
}

/** The lines of an answer as they come. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<RpcReply> {
  for await (const line of createInterface({ input: answer })) yield JSON.parse(line) as RpcReply;
}

const gate = (name: string) => toolRequest(name, 'gate', { name });

test('[RPC-5] each line leaves when its item is done, whatever the others still do', async () => {
  const answer = await post([gate('a'), request('quick', 'ping'), gate('b')]);
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, NDJSON]);
  const lines = linesOf(answer);
  // Nothing else is done before the test opens a gate, so what comes first can only have left on its own.
  expect((await lines.next()).value).toMatchObject({ id: 'quick' });
  // An item may begin in a later turn.
  await expect.poll(() => gates.has('b')).toBe(true);
  gates.get('b')?.();
  expect((await lines.next()).value).toMatchObject({ id: 'b' });
  gates.get('a')?.();
  expect((await lines.next()).value).toMatchObject({ id: 'a' });
  expect((await lines.next()).done).toBe(true);
  expect(answer.complete).toBe(true);
});

test('[NET-8, RPC-5] a client that vanishes between two lines leaves nothing open', async () => {
  const answer = await post([gate('c'), request('quick', 'ping')]);
  expect((await linesOf(answer).next()).value).toMatchObject({ id: 'quick' });
  answer.destroy();
  await expect.poll(() => traffic.active).toBe(0);
  gates.get('c')?.();
  expect((await linesOf(await post([request(1, 'ping')])).next()).value).toMatchObject({ id: 1 });
});

test('[NET-7, RPC-5] an item that is never done breaks the answer off: half a batch must not look like a whole one', async () => {
  const answer = await post([gate('d'), request('quick', 'ping')]);
  const lines = linesOf(answer);
  expect((await lines.next()).value).toMatchObject({ id: 'quick' });
  await expect(
    (async () => {
      for await (const chunk of answer) void chunk;
    })(),
  ).rejects.toThrow();
  expect(answer.complete).toBe(false);
  await expect.poll(() => traffic.active).toBe(0);
}, 120_000);

test('[RPC-5] a large line that its reader takes slowly comes whole, and the small ones around it', async () => {
  const answer = await post([toolRequest('large', 'large'), request(1, 'ping'), toolRequest('again', 'large')]);
  let bytes = 0;
  let text = '';
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    text = (text + String((chunk as Buffer).subarray(-64))).slice(-64);
    if (bytes % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(bytes).toBeGreaterThan(2 * LARGE_BYTES);
  expect(text.endsWith('}\n')).toBe(true);
  expect(answer.complete).toBe(true);
}, 120_000);
