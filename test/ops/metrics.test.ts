/** The metrics: who may read them, that they are well formed, and that they count what happened. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, listTools, mirrorTool, post, toolRequest, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { newLog, startMember, whichServes } from '../support/members.ts';
import { type Scrape, scrape } from '../support/metrics.ts';
import { type Account, type Credential, download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { until } from '../support/mirror-state.ts';
import { RawClient, uploadHead } from '../support/raw-client.ts';
import { refusedStart } from '../support/refused-start.ts';
import { succeeds } from '../support/succeeds.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const TOKEN = 'a-token-of-the-operator';
const UPLOADS = { bodies: 'uploads' };
const FILES = fileURLToPath(new URL('../../src/manual/deploy/', import.meta.url));

let hub: Hub;
let metrics: string;
let who: Account & Credential;

beforeAll(async () => {
  hub = await startHub({
    env: { CAIRN_METRICS_PORT: '0', CAIRN_METRICS_TOKEN: TOKEN, CAIRN_RATE_LIMIT: '30', CAIRN_SIGNIN_LIMIT: '3' },
  });
  const { metrics_port: port } = await hub.waitForLog(({ msg }) => msg === 'listening');
  metrics = `http://127.0.0.1:${String(port)}`;
  who = await mirrorAccount(hub);
});

afterAll(async () => {
  await hub.stop();
});

const hasPromtool = succeeds('promtool', '--version');

const tools = (name: string, body = '{}') =>
  call(hub, `/api/mcp/tools/${name}`, {
    method: 'POST',
    headers: { Authorization: `McpKey ${who.mcp_key}`, 'Content-Type': 'application/json' },
    body,
  });

test('[OPS-5] without a setting there are no metrics, with only a port none on the main one', async () => {
  const plain = await startHub();
  expect((await call(plain, '/metrics')).status).toBe(404);
  await plain.stop();
  const withPort = await startHub({ env: { CAIRN_METRICS_PORT: '0' } });
  expect((await call(withPort, '/metrics')).status).toBe(404);
  expect(await withPort.stop()).toBe(0);
});

test('[OPS-5] on the main port the token opens them, and nothing else does', async () => {
  const own = await startHub({ env: { CAIRN_METRICS_TOKEN: TOKEN, CAIRN_SIGNIN_LIMIT: '6' } });
  const answer = await call(own, '/metrics', {
    headers: { Authorization: `Bearer ${TOKEN}`, 'User-Agent': undefined },
  });
  expect(answer).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
  });
  const wrong = ['', TOKEN, `McpKey ${TOKEN}`, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`, 'Bearer '];
  for (const value of wrong) {
    const refused = await call(own, '/metrics', { headers: { Authorization: value === '' ? undefined : value } });
    expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="cairn"' } });
    expect(refused.text).not.toContain(TOKEN);
  }
  // Guessing is limited as any other sign-in, and the right token is not shut out by it.
  expect((await call(own, '/metrics')).status).toBe(429);
  expect((await call(own, '/metrics', { headers: { Authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
  expect((await call(own, '/api/mcp/openapi.json')).json()).toMatchObject({ paths: { '/metrics': {} } });
  await own.stop();
  expect(JSON.stringify(own.logs)).not.toContain(TOKEN);
});

test('[OPS-5] their own port needs no token and is reached from this machine only', async () => {
  expect((await call({ url: metrics }, '/metrics')).status).toBe(200);
  expect((await call({ url: metrics }, '/health')).status).toBe(404);
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address !== undefined && !address.internal && address.family === 'IPv4');
  if (outside === undefined) return;
  await expect(call({ url: metrics.replace('127.0.0.1', outside.address) }, '/metrics')).rejects.toThrow(
    'ECONNREFUSED',
  );
});

test('[OPS-1, OPS-5] a token that could be guessed, and a port that is taken, stop the start', async () => {
  expect(await refusedStart({ CAIRN_METRICS_TOKEN: 'short' })).toMatchObject({
    code: 1,
    stderr: 'cairn: CAIRN_METRICS_TOKEN must be 16 to 256 visible ASCII characters.\n',
  });
  const taken = await refusedStart({ CAIRN_METRICS_PORT: String(hub.port) });
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('CAIRN_METRICS_PORT') });
});

test('[OPS-5] requests are counted by route pattern and status, with their bytes and times', async () => {
  const before = await scrape(metrics);
  const bytes = randomBytes(300_000);
  const commit = randomCommit();
  expect((await upload(hub, who, commit, bytes)).status).toBe(200);
  expect((await upload(hub, who, 'no commit', bytes)).status).toBe(422);
  expect((await download(hub, who, commit)).bytes.length).toBe(bytes.length);
  const after = await scrape(metrics);
  const rise = (name: string, labels: Record<string, string>) => after.sum(name, labels) - before.sum(name, labels);
  const up = { method: 'POST', route: '/api/cert_mirror' };
  const down = { method: 'GET', route: '/api/cert_mirror/:sha/download' };
  expect(rise('cairn_http_requests_total', { ...up, status: '200' })).toBe(1);
  expect(rise('cairn_http_requests_total', { ...up, status: '422' })).toBe(1);
  expect(rise('cairn_http_requests_total', { ...down, status: '200' })).toBe(1);
  expect(rise('cairn_http_received_bytes_total', up)).toBeGreaterThanOrEqual(bytes.length);
  expect(rise('cairn_http_sent_bytes_total', down)).toBe(bytes.length);
  expect(rise('cairn_http_request_duration_seconds_count', up)).toBe(2);
  expect(rise('cairn_http_request_duration_seconds_sum', up)).toBeGreaterThan(0);
  expect(rise('cairn_pool_jobs_total', { job: 'digestStream', outcome: 'done' })).toBe(1);
  expect(rise('cairn_store_decisions_total', {})).toBeGreaterThanOrEqual(1);
  expect(rise('cairn_store_commit_duration_seconds_count', {})).toBeGreaterThanOrEqual(1);
  expect(rise('cairn_store_table_rows', { table: 'mirror_blobs' })).toBe(1);
  expect(rise('cairn_store_table_rows', { table: 'mirror_chunks' })).toBe(1);
});

test('[OPS-5] calls of tools are counted by tool, through every door, with their refusals and times', async () => {
  const own = await startHub({ env: { CAIRN_METRICS_PORT: '0' } });
  const { metrics_port: port } = await own.waitForLog(({ msg }) => msg === 'listening');
  const at = `http://127.0.0.1:${String(port)}`;
  const { mcp_key: key } = await mirrorAccount(own);
  const before = await scrape(at);
  // Every tool is there from the start, at nothing.
  const names = (await listTools(own)).map(({ name }) => name);
  const registered = before.select('cairn_tool_calls_total', { outcome: 'done' });
  expect(registered.map(({ labels, value }) => [labels['tool'], value])).toEqual(names.map((name) => [name, 0]));
  expect(before.select('cairn_tool_call_duration_seconds_count')).toEqual([]);

  await callTool(own, 'create_task', { content: 'x' }, key);
  await callTool(own, 'create_task', { content: '' }, key);
  await callTool(own, 'create_task', { content: 'x' });
  await mirrorTool(own, 'create_task', { content: 'y' }, withKey(key));
  await post(own, [toolRequest(1, 'list_tasks'), toolRequest(2, 'list_tasks')], withKey(key));
  await callTool(own, 'update_task', { id: 99, content: 'x' }, key);
  for (let count = 0; count < 20; count += 1) await callTool(own, `wonder_${count}`, {}, key);
  const after = await scrape(at);
  const calls = (tool: string, outcome: string) => after.sum('cairn_tool_calls_total', { tool, outcome });
  expect([calls('create_task', 'done'), calls('create_task', 'refused'), calls('create_task', 'failed')]).toEqual([
    2, 2, 0,
  ]);
  expect(calls('list_tasks', 'done')).toBe(2);
  const reasons = after.select('cairn_tool_refusals_total').map(({ labels, value }) => ({ ...labels, value }));
  expect(reasons).toEqual([
    { tool: 'create_task', reason: 'invalid_fields', value: 1 },
    { tool: 'create_task', reason: 'unauthenticated', value: 1 },
    { tool: 'update_task', reason: 'not_found', value: 1 },
  ]);
  const timed = after.select('cairn_tool_call_duration_seconds_count');
  expect(timed.map(({ labels, value }) => [labels['tool'], value])).toEqual([
    ['list_tasks', 2],
    ['create_task', 4],
    ['update_task', 1],
  ]);
  // A name that no tool has makes no line.
  expect(after.text).not.toContain('wonder');
  if (hasPromtool)
    execFileSync('promtool', ['check', 'metrics'], { input: after.text, stdio: ['pipe', 'pipe', 'pipe'] });
  await own.stop();
});

test('[OPS-5] paths and methods that nobody declared make no new lines', async () => {
  const lines = (text: Scrape) => text.select('cairn_http_requests_total').length;
  await call(hub, '/nothing/first');
  const before = await scrape(metrics);
  for (let count = 0; count < 20; count += 1) {
    await call(hub, `/nothing/${count}`);
    await call(hub, '/health', { method: `X${count}` }).catch(() => undefined);
    await call(hub, `/api/cert_mirror/${count}/download`);
  }
  const after = await scrape(metrics);
  // One for a status that the route had not given before.
  expect(lines(after) - lines(before)).toBeLessThanOrEqual(4);
  expect(after.text).not.toContain('nothing/');
});

test('[OPS-5] what is limited, what is in flight and what was cut off can be seen', async () => {
  const before = await scrape(metrics);
  const body = randomBytes(2_000_000);
  const client = await RawClient.open(hub);
  await client.send(uploadHead(who, randomCommit(), body));
  await client.send(body.subarray(0, 100_000));
  const during = await until('an upload in flight', async () => {
    const now = await scrape(metrics);
    const bytes = now.sum('cairn_inflight_bytes', UPLOADS);
    // What has arrived counts, and a little ahead of it.
    return bytes >= 100_000 && bytes < body.length ? now : undefined;
  });
  expect(during.sum('cairn_inflight_bytes_max', UPLOADS)).toBe(256 * 1024 * 1024);
  // The upload, and the scrape itself.
  expect(during.sum('cairn_http_requests_active')).toBeGreaterThanOrEqual(2);
  client.destroy();
  const cut = { method: 'POST', route: '/api/cert_mirror', status: '0' };
  await until('the upload was cut off, and its bytes given back', async () => {
    const now = await scrape(metrics);
    const isCut = now.sum('cairn_http_requests_total', cut) > before.sum('cairn_http_requests_total', cut);
    return isCut && now.sum('cairn_inflight_bytes', UPLOADS) === 0 ? now : undefined;
  });

  while ((await tools('list_categories')).status === 200);
  const limited = await scrape(metrics);
  expect(limited.sum('cairn_rate_limited_total', { limit: 'calls' })).toBeGreaterThanOrEqual(1);
  expect(limited.sum('cairn_http_requests_total', { status: '429' })).toBeGreaterThanOrEqual(1);
});

test('[OPS-5] a scrape is well formed', async () => {
  const whole = await scrape(metrics);
  expect(whole.samples.length).toBeGreaterThan(200);
  const seen = new Set<string>();
  for (const { name, labels, value } of whole.samples) {
    const line = `${name}${JSON.stringify(labels)}`;
    expect(seen.has(line), line).toBe(false);
    seen.add(line);
    expect(whole.types.has(whole.familyOf(name)), name).toBe(true);
    // The mean of an event loop that was not looked at yet is none.
    if (name.startsWith('cairn_')) expect(value, name).toBeGreaterThanOrEqual(0);
  }
  expect([...whole.types.keys()]).toEqual(expect.arrayContaining(NEEDED));
  expect(whole.text.endsWith('\n')).toBe(true);
});

test('[OPS-5] the buckets of a histogram rise to its count', async () => {
  const whole = await scrape(metrics);
  const rows = whole.select('cairn_http_request_duration_seconds_count');
  expect(rows.length).toBeGreaterThan(1);
  for (const { labels, value } of rows) {
    const buckets = whole.select('cairn_http_request_duration_seconds_bucket', labels);
    const counts = buckets.map((bucket) => bucket.value);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(buckets.at(-1)).toMatchObject({ labels: { le: '+Inf' }, value });
    const bounds = buckets.slice(0, -1).map((bucket) => Number(bucket.labels['le']));
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
  }
});

const NEEDED = [
  'cairn_condition',
  'cairn_follow_lag_seconds',
  'cairn_store_space_bytes',
  'cairn_store_space_free_bytes',
  'cairn_http_requests_total',
  'cairn_http_request_duration_seconds',
  'cairn_http_received_bytes_total',
  'cairn_http_sent_bytes_total',
  'cairn_tool_calls_total',
  'cairn_tool_refusals_total',
  'cairn_tool_call_duration_seconds',
  'cairn_pool_queued',
  'cairn_pool_job_duration_seconds',
  'cairn_pool_wait_duration_seconds',
  'cairn_damage_found_total',
  'cairn_last_backup_timestamp_seconds',
  'cairn_last_verify_timestamp_seconds',
  'cairn_accounts',
  'cairn_blobs',
  'cairn_blob_bytes',
  'cairn_conflicts_pending',
  'cairn_pulls_waiting',
  'cairn_store_map_bytes',
  'cairn_tls_certificate_expiry_timestamp_seconds',
  'cairn_log_lines_dropped_total',
  'cairn_mailbox_depth',
  'cairn_event_loop_delay_seconds',
  'cairn_store_pages',
  'cairn_store_pages_free',
  'cairn_rate_limited_total',
];

test('[OPS-5] every figure that the dashboard and the alert rules name is there', async () => {
  // Some figures are of a member that answers before its log has a write.
  const member = await startMember({
    name: 'one',
    log: newLog(),
    env: { CAIRN_LOG_ACK: 'local', CAIRN_METRICS_PORT: '0', CAIRN_LEASE_SECONDS: '10' },
  });
  await whichServes([member]);
  const { metrics_port: port } = await member.waitForLog(({ msg }) => msg === 'listening');
  const scrapes = [await scrape(metrics), await scrape(`http://127.0.0.1:${String(port)}`)];
  await member.stop();
  const types = new Map(scrapes.flatMap((one) => [...one.types]));
  for (const file of ['grafana-dashboard.json', 'prometheus-alerts.yml']) {
    const names = new Set(readFileSync(join(FILES, file), 'utf8').match(/\b(?:cairn|nodejs|process)_[a-z0-9_]+/g));
    expect(names.size).toBeGreaterThan(8);
    const missing = [...names].filter(
      (name) => !types.has(name.replace(/_(bucket|sum|count)$/, '')) && !types.has(name),
    );
    expect({ file, missing }).toEqual({ file, missing: [] });
  }
});

test.runIf(hasPromtool)('[OPS-5] promtool finds nothing wrong with a scrape, nor with the alert rules', async () => {
  const { text } = await scrape(metrics);
  execFileSync('promtool', ['check', 'metrics'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
  const rules = join(FILES, 'prometheus-alerts.yml');
  execFileSync('promtool', ['check', 'rules', rules], { stdio: 'pipe' });
  const broken = join(temporaryFolder(), 'broken.yml');
  writeFileSync(broken, readFileSync(rules, 'utf8').replace('expr:', 'exp:'));
  expect(() => execFileSync('promtool', ['check', 'rules', broken], { stdio: 'pipe' })).toThrow();
});

test.runIf(hasPromtool)(
  '[OPS-27] the alert rules fire when they should, and before the refusal that they announce',
  () => {
    const tests = fileURLToPath(new URL('alerts.promtool.yml', import.meta.url));
    execFileSync('promtool', ['test', 'rules', tests], { stdio: 'pipe' });
  },
);
