/** Every bound at once too much: what comes above it is told to come again, and what runs goes on. */
import { randomBytes } from 'node:crypto';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { limits } from '../../src/limits/service.ts';
import { selfSigned } from '../support/certificate.ts';
import { GATEWAY, post, repliesOf, replyOf } from '../support/gateway.ts';
import { type Answer, call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Scrape, scrape } from '../support/metrics.ts';
import {
  type Account,
  account,
  type Credential,
  download,
  mirrorAccount,
  randomCommit,
  upload,
} from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { head, type RawClient, rawClient } from '../support/raw.ts';
import { canTrace, straceWrapper } from '../support/strace.ts';

const MiB = 1024 * 1024;

let hub: Hub | undefined;
let clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients) client.vanish();
  clients = [];
  await hub?.kill();
  hub = undefined;
});

async function start(env: Record<string, string>, wrapper: readonly string[] = []): Promise<Hub> {
  hub = await startHub({ env: { CAIRN_METRICS_PORT: '0', ...env }, wrapper });
  return hub;
}

async function open(on: Hub, from?: string): Promise<RawClient> {
  const client = await rawClient(on.port, from === undefined ? {} : { from });
  clients.push(client);
  return client;
}

async function figures(on: Hub): Promise<Scrape> {
  const { metrics_port: port } = await on.waitForLog(({ msg }) => msg === 'listening');
  return await scrape(`http://127.0.0.1:${String(port)}`);
}

function expectBusy(answer: Pick<Answer, 'status' | 'headers' | 'text'> | undefined, what: string): void {
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(answer?.text).toContain(`too busy: ${what}`);
}

test('[OPS-18] a connection too many is told to come again, and those that are there go on', async () => {
  const on = await start({ CAIRN_CONNECTIONS: '20' });
  const health = head('GET /health HTTP/1.1', []);
  const served = await Promise.all(Array.from({ length: 20 }, () => open(on)));
  served[0]?.send(health);
  expect((await served[0]?.received(1))?.[0]?.status).toBe(200);
  for (let count = 0; count < 5; count += 1) {
    const turnedAway = await open(on);
    const [answer] = await turnedAway.received(1);
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(answer?.body).toContain('too many connections');
    await turnedAway.closed;
  }
  // The metrics have a port of their own just for such a day.
  const seen = await until('the five are gone', async () => {
    const now = await figures(on);
    return now.sum('cairn_connections') === 20 ? now : undefined;
  });
  expect(seen.sum('cairn_overloaded_total', { bound: 'connections' })).toBe(5);
  served[1]?.send(health);
  expect((await served[1]?.received(1))?.[0]?.status).toBe(200);
  served[2]?.vanish();
  await until('there is room again', async () =>
    (await figures(on)).sum('cairn_connections') < 20 ? true : undefined,
  );
  expect((await call(on, '/health')).status).toBe(200);
});

test('[NET-11] an address that holds many connections gets none of the last quarter, and others do', async () => {
  const max = 400;
  const on = await start({ CAIRN_CONNECTIONS: String(max) });
  const greedy = await Promise.all(Array.from({ length: 1.2 * max }, () => open(on, '127.0.1.1')));
  const health = head('GET /health HTTP/1.1', []);
  // The kernel is asked once in a while, so a burst may take a little more than three quarters before that.
  await until('the many are turned away', async () => {
    const now = (await figures(on)).sum('cairn_connections');
    return now >= 0.75 * max && now <= 0.75 * max + limits.peerConnectionsMin ? now : undefined;
  });
  await new Promise((resolve) => setTimeout(resolve, limits.peersAskedMs));
  for (const from of ['127.0.2.1', '127.0.2.2', '127.0.2.3']) {
    const other = await open(on, from);
    other.send(health);
    expect((await other.received(1))[0]?.status, from).toBe(200);
  }
  const again = await open(on, '127.0.1.1');
  expect((await again.received(1))[0]?.status).toBe(503);
  for (const client of greedy) client.vanish();
  await until('there is room again', async () =>
    (await figures(on)).sum('cairn_connections') < 0.5 * max ? true : undefined,
  );
  const back = await open(on, '127.0.1.1');
  back.send(health);
  expect((await back.received(1))[0]?.status).toBe(200);
});

test('[OPS-18] over TLS a connection too many is closed, and the others go on', async () => {
  const { cert, key } = selfSigned();
  const on = await start({ CAIRN_CONNECTIONS: '3', CAIRN_TLS_CERT: cert, CAIRN_TLS_KEY: key });
  const dial = () =>
    new Promise<string>((resolve) => {
      const socket = connectTls({ port: on.port, host: '127.0.0.1', rejectUnauthorized: false });
      sockets.push(socket);
      socket.once('secureConnect', () => resolve('open'));
      socket.once('error', () => resolve('closed'));
      socket.once('close', () => resolve('closed'));
    });
  const sockets: ReturnType<typeof connectTls>[] = [];
  try {
    expect([await dial(), await dial(), await dial(), await dial()]).toEqual(['open', 'open', 'open', 'closed']);
    sockets[0]?.destroy();
    await until('there is room again', async () => ((await dial()) === 'open' ? true : undefined));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('[OPS-18] more connections than the system has room for are not promised', async () => {
  const on = await start({ CAIRN_CONNECTIONS: '5000' }, ['prlimit', '--nofile=400:400']);
  const warning = await on.waitForLog(({ level }) => level === 40);
  expect(warning).toMatchObject({ connections: 400 - limits.openFilesReserve, open_files: 400 });
  const many = await Promise.all(Array.from({ length: 300 }, () => open(on)));
  const turnedAway = () => many.filter((client) => client.text().includes('503')).length;
  await until('the rest was turned away', () => (turnedAway() >= 300 - 144 ? true : undefined));
  many[0]?.send(head('GET /health HTTP/1.1', []));
  expect((await many[0]?.received(1))?.[0]?.status).toBe(200);
});

test('[OPS-18] a download too many is 503, and one that ends makes room', async () => {
  // Three quarters are for one account, here two.
  const on = await start({ CAIRN_STREAMS: '4' });
  const who = await mirrorAccount(on);
  const [commit, bytes] = [randomCommit(), randomBytes(40 * MiB)];
  expect((await upload(on, who, commit, bytes)).status).toBe(200);
  const slow = await Promise.all([0, 1].map(() => slowDownload(on, who, commit)));
  expectBusy(await download(on, who, commit), 'too many downloads are running');
  const seen = await figures(on);
  expect(seen.sum('cairn_streams')).toBe(2);
  expect(seen.sum('cairn_overloaded_total', { bound: 'streams' })).toBe(1);
  // What is not streamed is served.
  expect((await call(on, '/health')).status).toBe(200);
  slow[0]?.vanish();
  const again = await until('there is room again', async () => {
    const answer = await download(on, who, commit);
    return answer.status === 200 ? answer : undefined;
  });
  expect(again.bytes.equals(bytes)).toBe(true);
  await until('none but the slow one', async () => ((await figures(on)).sum('cairn_streams') === 1 ? true : undefined));
});

/** A download whose reader stops at its first bytes. */
async function slowDownload(on: Hub, who: Account & Credential, commit: string): Promise<RawClient> {
  const client = await open(on);
  const first = new Promise((resolve) => client.socket.once('data', resolve));
  client.socket.once('data', () => client.socket.pause());
  client.send(head(`GET /api/cert_mirror/${commit}/download HTTP/1.1`, [`Authorization: McpKey ${who.token}`]));
  await first;
  return client;
}

test('[OPS-18, NET-11] documents in flight are bounded, declared or chunked, and small ones of others pass', async () => {
  const on = await start({ CAIRN_INFLIGHT_BYTES: String(80 * MiB) });
  const [greedy, other] = [await account(on), await account(on)];
  const begin = async (line: string) => {
    const client = await open(on);
    const lines = ['Content-Type: application/json', `Authorization: McpKey ${greedy.mcp_key}`, line];
    client.send(head(`POST ${GATEWAY} HTTP/1.1`, lines));
    return client;
  };
  // Nothing is held for what is only declared.
  const held = await Promise.all(Array.from({ length: 10 }, () => begin(`Content-Length: ${15 * MiB}`)));
  await until('the heads are there', async () => (await inFlight(on)) === 10 * limits.bodyBytesAhead || undefined);
  for (const client of held.slice(0, 3)) client.send(Buffer.alloc(15 * MiB - 1, ' '));
  await until('45 MiB are held', async () => (await inFlight(on)) > 45 * MiB || undefined);
  held[3]?.send(Buffer.alloc(15 * MiB - 1, ' '));
  const [refused] = (await held[3]?.received(1)) ?? [];
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(refused?.body).toContain('too many request bodies are being received');
  const chunked = await begin('Transfer-Encoding: chunked');
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MiB, ' '), Buffer.from('\r\n')]);
  for (let count = 0; count < 15; count += 1) chunked.send(chunk);
  expect((await chunked.received(1))[0]).toMatchObject({ status: 503 });
  const asOther = { Authorization: `McpKey ${other.mcp_key}` };
  const note = 'x'.repeat(MiB);
  expect(replyOf(await post(on, { jsonrpc: '2.0', id: 1, method: 'ping', note }, asOther))).toMatchObject({
    result: {},
  });
  expect(replyOf(await post(on, { jsonrpc: '2.0', id: 1, method: 'ping' }))).toMatchObject({ result: {} });
  for (const client of held) client.vanish();
  await until('all is given back', async () => (await inFlight(on)) === 0 || undefined);
});

test('[NET-11] a body without a credential is small, declared or chunked, whoever asks', async () => {
  const on = await start({});
  const { mcp_key: key } = await account(on);
  const note = 'x'.repeat(limits.strangerBodyBytesMax);
  const message = { jsonrpc: '2.0', id: 1, method: 'ping', note };
  const refused = await post(on, message);
  expect(refused).toMatchObject({ status: 413 });
  expect(refused.text).toContain('65536 bytes, the most accepted here without a valid credential');
  expect((await post(on, message, { 'Transfer-Encoding': 'chunked' })).status).toBe(413);
  expect((await post(on, message, { Authorization: `McpKey ${key}` })).status).toBe(200);
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  expect((await call(on, '/signin', { method: 'POST', headers: form, body: `email=${note}` })).status).toBe(413);
});

const inFlight = async (on: Hub) => (await figures(on)).sum('cairn_inflight_bytes', { bodies: 'documents' });

test('[OPS-18, NET-4] a body that would become millions of values is refused before it becomes them', async () => {
  const on = await start({});
  const values = (count: number) => `[${'1,'.repeat(count - 2)}1]`;
  const own = { Authorization: `McpKey ${(await account(on)).mcp_key}` };
  const most = await post(on, values(limits.jsonValuesMax), own);
  expect(replyOf(most)).toMatchObject({ error: { code: -32600 } });
  const [arrays, objects] = [`[${'[],'.repeat(5_000_000)}[]]`, `[${'{},'.repeat(200_000)}{}]`];
  for (const body of [values(limits.jsonValuesMax + 1), arrays, objects]) {
    expect(replyOf(await post(on, body, own))).toMatchObject({
      error: { code: -32700, message: expect.stringContaining('more than 100000 values') },
    });
  }
  // Commas and brackets within strings are no values, whatever stands around the quotes.
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: 'x,[{\\"'.repeat(20),
    method: 'ping',
    note: ',[{\\"'.repeat(150_000),
  });
  expect(replyOf(await post(on, text, own))).toMatchObject({ result: {} });
});

test('[OPS-18] while the event loop is late new work is 503, probes are answered, and it passes', async () => {
  const on = await start({ CAIRN_LOOP_DELAY_MS: '20' });
  const pid = on.process.pid as number;
  // A process that is stopped most of the time is late with everything, as one that has too much to do.
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  let isThrottled = true;
  const throttle = (async () => {
    while (isThrottled) {
      process.kill(pid, 'SIGSTOP');
      await wait(80);
      process.kill(pid, 'SIGCONT');
      await wait(4);
    }
  })();
  try {
    const refused = await until('new work is refused', async () => {
      const answer = await post(on, { jsonrpc: '2.0', id: 1, method: 'ping' });
      return answer.status === 503 ? answer : undefined;
    });
    expectBusy(refused, 'the server is overloaded');
    expect((await call(on, '/health')).status).toBe(200);
    expect((await call(on, '/ready')).status).toBe(200);
  } finally {
    isThrottled = false;
    await throttle;
  }
  await until('it passes', async () => {
    const answer = await post(on, { jsonrpc: '2.0', id: 1, method: 'ping' });
    return answer.status === 200 ? answer : undefined;
  });
  expect((await figures(on)).sum('cairn_overloaded_total', { bound: 'event_loop' })).toBeGreaterThan(0);
});

test.runIf(canTrace)('[OPS-18] a mailbox that is full refuses, and nothing that was taken is lost', async () => {
  // A slow flush: writes pile up.
  const on = await start({}, straceWrapper(['trace=fdatasync', 'inject=fdatasync:delay_enter=150000']));
  const who = await mirrorAccount(on);
  const own = { Authorization: `McpKey ${who.mcp_key}` };
  const create = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'create_task', arguments: { content: `task ${id}` } },
  });
  const batches = Array.from({ length: 16 }, (_, batch) =>
    post(
      on,
      Array.from({ length: 100 }, (_entry, at) => create(batch * 100 + at)),
      own,
    ),
  );
  const replies = (await Promise.all(batches)).flatMap((answer) => repliesOf(answer));
  expect(replies.length).toBe(1600);
  const done = replies.filter(({ result }) => result !== undefined);
  const refused = replies.filter(({ error }) => error !== undefined);
  expect(refused.length).toBeGreaterThan(0);
  for (const { error } of refused) {
    expect(error).toMatchObject({ code: -32007, message: expect.stringContaining('try again in 1 s') });
  }
  expect(done.length).toBeGreaterThanOrEqual(limits.mailboxDepthMax);
  const report = JSON.parse((await on.cli('verify', '--json')).stdout) as { ok: boolean; tasks: number };
  expect(report).toMatchObject({ ok: true, tasks: done.length });
});
