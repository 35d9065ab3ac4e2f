/** Several threads at the door are one service: limits, keys, figures and the end of it are those of one. */

import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { Connection, type HubWithFronts, startWithFronts } from '../support/fronts.ts';
import { call } from '../support/http.ts';
import { scrape } from '../support/metrics.ts';
import { randomCommit, uploadHeaders } from '../support/mirror.ts';

const FRONTS = 3;
const CLIENTS = 9;

let hub: HubWithFronts | undefined;
afterEach(async () => {
  await hub?.stop();
  hub = undefined;
});

async function start(env: Record<string, string> = {}) {
  const on = await startWithFronts(FRONTS, env);
  hub = on;
  const made = await on.cli('account', 'create', '--email', 'fronts@example.org', '--json');
  const account = JSON.parse(made.stdout) as { mcp_key: string; account_key: string };
  const headers = { Authorization: `McpKey ${account.mcp_key}` };
  /** Connections go to the fronts in turns, so that each front has some of these. */
  const clients = Array.from({ length: CLIENTS }, () => new Connection(on, headers));
  const all = <T>(run: (client: Connection) => Promise<T>) => Promise.all(clients.map(run));
  return { on, account, headers, clients, all };
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_tasks', arguments: { limit: 5 } } };

test('[LIM-1] many fronts let a caller through as often as one thread would', async () => {
  const { all } = await start({ CAIRN_RATE_LIMIT: '60' });
  const statuses: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    statuses.push(...(await all((client) => client.send('POST', '/api/mcp', LIST))).map(({ status }) => status));
  }
  // A third of a minute's calls at once, and what comes back each second; five rounds take a few seconds at the most.
  const through = statuses.filter((status) => status === 200).length;
  expect([through >= 20, through < 35, new Set(statuses)]).toEqual([true, true, new Set([200, 429])]);
});

test('[KEY-4] a revoked key opens nothing at any front from its answer on', async () => {
  const { on, all } = await start();
  await all((client) => client.tool('list_tasks', {}));
  const email = ['--email', 'fronts@example.org'];
  const listed = await on.cli('key', 'list', ...email, '--json');
  const id = /key_[0-9a-f]{16}(?=[^{}]*first key)/.exec(listed.stdout)?.[0] ?? '';
  const revoked = await on.cli('key', 'revoke', ...email, '--id', id);
  expect([revoked.code, revoked.stderr]).toEqual([0, '']);
  const after = await all((client) => client.send('POST', '/api/mcp', LIST));
  expect(after.map(({ status }) => status)).toEqual(after.map(() => 401));
});

test('[OPS-3, OPS-5] a front that ends takes its own connections only, is started again, and both figures and log tell it', async () => {
  const { on, clients, all } = await start({ CAIRN_METRICS_PORT: '0' });
  await all((client) => client.tool('list_tasks', {}));
  on.crash(1);
  await on.waitForLog(({ msg, front }) => String(msg).startsWith('a front ended on its own') && front === 1);
  // A connection that was lost is opened anew by its client.
  for (const client of clients) {
    const answered = await client.tool('list_tasks', {}).catch(() => client.tool('list_tasks', {}));
    expect(answered).toMatchObject({ tasks: [] });
  }
  const listening = on.logs.find(({ msg }) => msg === 'listening');
  const figures = await scrape(`http://127.0.0.1:${String(listening?.['metrics_port'])}`);
  expect(figures.sum('cairn_front_restarts_total')).toBe(1);
  expect(figures.sum('cairn_tool_calls_total', { tool: 'list_tasks', outcome: 'done' })).toBeGreaterThanOrEqual(
    2 * CLIENTS,
  );
});

test('[OPS-3] SIGTERM ends every front, and each request that was taken is answered', async () => {
  const { on, all } = await start();
  const answers = Array.from({ length: 5 }, () => all((client) => client.tool('create_task', { content: 'kept' })));
  await answers[0];
  const code = on.stop();
  const settled = await Promise.allSettled(answers.flat());
  expect(await code).toBe(0);
  expect(settled.some(({ status }) => status === 'fulfilled')).toBe(true);
  hub = undefined;
});

test('[NET-9] a body and an answer of any size pass through a front unchanged', async () => {
  const { on, headers, clients } = await start();
  const [client] = clients as [Connection];
  for (const chars of [1, 1000, 20_000, 300_000, 600_000]) {
    const text = 'ä'.repeat(chars / 2) + 'x'.repeat(chars / 2);
    const doc = { title: `of ${chars}`, category: 'sizes' };
    await client.tool('create_dev_doc', { ...doc, content: text, create_category: true });
    const read = await client.tool<{ doc: { content: string } }>('get_dev_doc', doc);
    expect(read.doc.content === text).toBe(true);
  }
  expect((await call(on, '/api/mcp/openapi.json', { headers })).json()).toHaveProperty('openapi');
});

test('[LIM-2] downloads at all fronts have one bound, and a front that ends gives back what it held', async () => {
  const { on, headers, all } = await start({ CAIRN_STREAMS: '1' });
  const asJson = { ...headers, 'Content-Type': 'application/json' };
  const issued = await call(on, '/api/cert_mirror/credentials', { method: 'POST', headers: asJson, body: '{}' });
  const credential = issued.json() as unknown as Parameters<typeof uploadHeaders>[0];
  const [commit, body] = [randomCommit(), randomBytes(32 * 1024 * 1024)];
  const stored = await call(on, '/api/cert_mirror', {
    method: 'POST',
    headers: uploadHeaders(credential, commit, body),
    body,
  });
  expect(stored.status).toBe(200);
  const path = `/api/cert_mirror/${commit}/download`;
  const withToken = { Authorization: `McpKey ${credential.token}`, 'User-Agent': 'slow/1' };
  // It reads the head of its answer and nothing more.
  const slow = request(on.url + path, { headers: withToken });
  slow.on('error', () => undefined);
  await new Promise((resolve) => {
    slow.on('response', resolve);
    slow.end();
  });
  const others = await all(async () => (await call(on, path, { headers: withToken })).status);
  expect(others).toEqual(others.map(() => 503));
  for (let front = 1; front <= FRONTS; front += 1) {
    on.crash(front);
    await on.waitForLog((line) => String(line.msg).startsWith('a front ended on its own') && line['front'] === front);
  }
  const again = async () => await call(on, path, { headers: withToken }).catch(() => undefined);
  await expect.poll(async () => (await again())?.status, { timeout: 20_000 }).toBe(200);
  slow.destroy();
});
