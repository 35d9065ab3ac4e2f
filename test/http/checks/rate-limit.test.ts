/** Rate limits from outside: who is counted, what is told, and that every surface refuses in its own form. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  accessToken,
  callTool,
  type Headers,
  mirrorTool,
  PASSWORD,
  post,
  repliesOf,
  replyOf,
  request,
  toolRequest,
  withKey,
} from '../../support/gateway.ts';
import { type Answer, call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { account, mirrorAccount, randomCommit, upload } from '../../support/mirror.ts';

/** Calls at once; the next one comes five seconds after them. */
const BURST = 4;
const SIGN_INS = 3;

let hub: Hub;
let unlimited: Hub;
let addresses = 0;

beforeAll(async () => {
  const env = {
    CAIRN_RATE_LIMIT: String(BURST * 3),
    CAIRN_SIGNIN_LIMIT: String(SIGN_INS),
    CAIRN_TRUSTED_PROXIES: '127.0.0.1',
    CAIRN_SIGNUP: 'open',
  };
  [hub, unlimited] = await Promise.all([startHub({ env }), startHub()]);
});

afterAll(async () => {
  for (const one of [hub, unlimited]) {
    expect(one.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
    await one.stop();
  }
});

/** An address that nobody has called from. */
function freshAddress(): Headers {
  addresses += 1;
  return { 'X-Forwarded-For': `203.0.113.${addresses}` };
}

const LIST = request(1, 'tools/list');

/** What comes of making the same call `count` times. */
async function repeat(count: number, make: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let n = 0; n < count; n += 1) answers.push(await make());
  return answers;
}

const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);

function expectRefused(answer: Answer | undefined): void {
  expect(answer?.status).toBe(429);
  expect(Number(answer?.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer?.headers['x-ratelimit-remaining']).toBe('0');
}

test('[LIM-1] every counted answer says how many calls are left', async () => {
  const { mcp_key: key } = await account(hub);
  const answers = await repeat(BURST, () => post(hub, LIST, withKey(key)));
  expect(statuses(answers)).toEqual(Array(BURST).fill(200));
  expect(answers.map(({ headers }) => headers['x-ratelimit-limit'])).toEqual(Array(BURST).fill(String(BURST)));
  expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['3', '2', '1', '0']);
  const resets = answers.map(({ headers }) => Number(headers['x-ratelimit-reset']));
  expect(resets.every((seconds) => Number.isInteger(seconds) && seconds > 0 && seconds <= 20)).toBe(true);
});

test('[LIM-1, RPC-6] the gateway refuses with 429 and -32029', async () => {
  const { mcp_key: key } = await account(hub);
  const answers = await repeat(BURST + 1, () => post(hub, toolRequest(1, 'list_tasks'), withKey(key)));
  const last = answers.at(-1);
  expectRefused(last);
  expect(last?.json()).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: {
      code: -32029,
      message: expect.stringMatching(/try again in \d+ s/),
      data: { retry_after_seconds: Number(last?.headers['retry-after']) },
    },
  });
});

test('[LIM-3] all keys and tokens of an account share three times the rate of one', async () => {
  const { mcp_key: key, email } = await account(hub);
  const tokens = await Promise.all(Array.from({ length: 3 }, () => accessToken(hub, email)));
  const callers = [withKey(key), ...tokens.map((token) => ({ Authorization: `Bearer ${token}` }))];
  const answers: Answer[] = [];
  for (const headers of callers) answers.push(...(await repeat(BURST, () => post(hub, LIST, headers))));
  expect(statuses(answers)).toEqual([...Array(3 * BURST).fill(200), ...Array(BURST).fill(429)]);
  expectRefused(answers.at(-1));
  expect(answers.at(-1)?.headers['x-ratelimit-limit']).toBe(String(3 * BURST));
  const { mcp_key: other } = await account(hub);
  expect(statuses([await post(hub, LIST, withKey(other))])).toEqual([200]);
});

test('[LIM-1] REST, the tool mirror and the certificate mirror refuse with 429 and a JSON error', async () => {
  const owner = await mirrorAccount(hub);
  const [reader, caller] = await Promise.all([account(hub), account(hub)]);
  const token = await accessToken(hub, reader.email);
  const bytes = Buffer.from('tarball');
  const surfaces: (() => Promise<Answer>)[] = [
    () => call(hub, '/api/tasks', { headers: { Authorization: `Bearer ${token}` } }),
    () => mirrorTool(hub, 'list_tasks', {}, withKey(caller.account_key)),
    () => upload(hub, owner, randomCommit(), bytes),
  ];
  for (const make of surfaces) {
    const answers = await repeat(BURST + 1, make);
    expect(statuses(answers).slice(0, BURST)).toEqual(Array(BURST).fill(200));
    expectRefused(answers.at(-1));
    expect(answers.at(-1)?.json()).toMatchObject({ error: expect.stringMatching(/try again in \d+ s/) });
  }
});

test('[LIM-1, MIR-17] an upload that is refused for its rate stores nothing', async () => {
  const owner = await mirrorAccount(hub);
  const answers = await repeat(BURST + 2, () => upload(hub, owner, randomCommit(), Buffer.from('tarball')));
  expect(statuses(answers).slice(-2)).toEqual([429, 429]);
  const verified = await hub.cli('verify', '--json');
  expect(verified.code).toBe(0);
});

test('[LIM-1] each item of a batch counts, and one that is too many is refused whole', async () => {
  const { mcp_key: key, email } = await account(hub);
  const batch = Array.from({ length: BURST - 1 }, (_, id) => toolRequest(id, 'create_task', { content: 'counted' }));
  const first = await post(hub, batch, withKey(key));
  expect([first.headers['x-ratelimit-remaining'], repliesOf(first).length]).toEqual(['1', BURST - 1]);
  const second = await post(hub, batch, withKey(key));
  expectRefused(second);
  expect(replyOf(second)).toMatchObject({ id: null, error: { code: -32029 } });
  const token = await accessToken(hub, email);
  const seen = await call(hub, '/api/tasks', { headers: { Authorization: `Bearer ${token}` } });
  expect(seen.json()['meta']).toMatchObject({ total: BURST - 1 });
});

test('[LIM-1, RPC-4] a batch that can never be counted at once is refused for what it is, not for a while', async () => {
  const { mcp_key: key } = await account(hub);
  const batch = Array.from({ length: BURST + 1 }, (_, id) => toolRequest(id, 'list_tasks'));
  const answer = await post(hub, batch, withKey(key));
  expect([answer.status, answer.headers['retry-after']]).toEqual([200, undefined]);
  const { error } = replyOf(answer);
  expect(error?.code).toBe(-32600);
  expect(error?.message).toContain(`may contain ${BURST} items`);
  expect(statuses([await post(hub, LIST, withKey(key))])).toEqual([200]);
});

test('[LIM-1, RPC-4] a batch that must wait is told how many calls are left, and is taken after its wait', async () => {
  const { mcp_key: key } = await account(hub);
  await post(hub, LIST, withKey(key));
  const batch = Array.from({ length: BURST }, (_, id) => toolRequest(id, 'list_tasks'));
  const refused = await post(hub, batch, withKey(key));
  // One went to the first call and one to the request itself; its other items were not counted.
  expect([refused.status, refused.headers['x-ratelimit-remaining']]).toEqual([429, String(BURST - 2)]);
  await new Promise((resolve) => setTimeout(resolve, Number(refused.headers['retry-after']) * 1000));
  expect(repliesOf(await post(hub, batch, withKey(key)))).toHaveLength(BURST);
}, 120_000);

test('[LIM-1] a key is counted wherever it calls from, and another key of the account on its own', async () => {
  const owner = await account(hub);
  const from = (key: string) => post(hub, LIST, { ...withKey(key), ...freshAddress() });
  const answers = await repeat(BURST + 1, () => from(owner.mcp_key));
  expect(statuses(answers)).toEqual([...Array(BURST).fill(200), 429]);
  expect((await from(owner.account_key)).status).toBe(200);
});

test('[LIM-1] without a key the address is counted', async () => {
  const [here, there] = [freshAddress(), freshAddress()];
  const answers = await repeat(BURST + 1, () => post(hub, LIST, here));
  expect(statuses(answers)).toEqual([...Array(BURST).fill(200), 429]);
  expect((await post(hub, LIST, there)).status).toBe(200);
  const { mcp_key: key } = await account(hub);
  expect((await post(hub, LIST, { ...withKey(key), ...here })).status).toBe(200);
});

test('[LIM-1] failed credentials count per address, and a right one from there still enters', async () => {
  const [here, there] = [freshAddress(), freshAddress()];
  const guess = (from: Headers) => post(hub, LIST, { ...withKey('0'.repeat(64)), ...from });
  const guesses: (() => Promise<Answer>)[] = [
    () => guess(here),
    () => call(hub, '/api/tasks', { headers: { Authorization: 'Bearer no', ...here } }),
    () => call(hub, '/api/cert_mirror', { headers: { Authorization: 'McpKey no', ...here } }),
  ];
  for (const make of guesses) expect((await make()).status).toBe(401);
  for (const make of guesses) {
    const answer = await make();
    expectRefused(answer);
    expect(answer.json()['error']).toBeDefined();
  }
  expect((await guess(there)).status).toBe(401);
  const { mcp_key: key } = await account(hub);
  expect((await post(hub, LIST, { ...withKey(key), ...here })).status).toBe(200);
});

const signIn = (email: string, from: Headers) =>
  mirrorTool(hub, 'login_and_get_key', { email, password: 'wrong horse' }, from);

test('[LIM-1] wrong passwords of others refuse nobody an email', async () => {
  const answers = await repeat(SIGN_INS + 2, () => signIn('Victim@example.org', freshAddress()));
  expect(statuses(answers)).toEqual(Array(SIGN_INS + 2).fill(401));
});

test('[LIM-1] sign-ins and sign-ups count per address, for whatever email', async () => {
  const here = freshAddress();
  const email = (n: number) => `n${n}-${addresses}@example.org`;
  const args = { email: email(0), password: PASSWORD };
  expect((await mirrorTool(hub, 'signup_and_get_key', args, here)).status).toBe(200);
  expect(statuses([await signIn(email(1), here), await signIn(email(2), here)])).toEqual([401, 401]);
  const refused = await signIn(email(3), here);
  expectRefused(refused);
  expect(refused.json()).toMatchObject({ code: -32029, data: { retry_after_seconds: expect.any(Number) } });
});

test('[LIM-1, RPC-1] over the gateway a refused sign-in is -32029 of that call', async () => {
  const address = freshAddress();
  const tries = Array.from({ length: SIGN_INS }, (_, n) =>
    toolRequest(n, 'login_and_get_key', { email: 'a@b.c', password: 'x' }),
  );
  expect(repliesOf(await post(hub, tries, address)).map(({ error }) => error?.code)).toEqual([-32001, -32001, -32001]);
  const answer = await post(hub, tries[0], address);
  expect([answer.status, replyOf(answer)]).toMatchObject([
    200,
    { id: 0, error: { code: -32029, data: { retry_after_seconds: expect.any(Number) } } },
  ]);
});

test('[LIM-1] the probes are never limited and take nothing', async () => {
  const answers = await repeat(BURST * 5, () => call(hub, '/health'));
  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(answers[0]?.headers['x-ratelimit-limit']).toBeUndefined();
  expect((await call(hub, '/ready')).status).toBe(200);
});

test('[LIM-1] 0 turns a limit off', async () => {
  const { mcp_key: key } = await account(unlimited);
  const answers = await repeat(50, () => post(unlimited, LIST, withKey(key)));
  expect(new Set(statuses(answers))).toEqual(new Set([200]));
  expect(answers[0]?.headers['x-ratelimit-limit']).toBeUndefined();
  const guesses = await repeat(30, () => post(unlimited, LIST, withKey('0'.repeat(64))));
  expect(new Set(statuses(guesses))).toEqual(new Set([401]));
  const logins = await Promise.all(
    Array.from({ length: 15 }, () => callTool(unlimited, 'login_and_get_key', { email: 'a@b.c', password: 'x' })),
  );
  expect(new Set(logins.map(({ error }) => error?.code))).toEqual(new Set([-32001]));
});

test('[LIM-1] a third of a minute’s calls may come at once', async () => {
  const other = await startHub({ env: { CAIRN_RATE_LIMIT: '600' } });
  try {
    const { headers } = await post(other, LIST);
    expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual(['200', '199']);
  } finally {
    await other.stop();
  }
});

test('[LIM-1, RPC-2] a call above the rate is refused with the id of its request, at both doors of the gateway', async () => {
  const { mcp_key: key } = await account(hub);
  await repeat(BURST, () => post(hub, LIST, withKey(key)));
  const refuse = async (body: unknown, headers: Headers = {}) =>
    (await post(hub, body, { ...withKey(key), ...headers })).json();
  for (const id of [7, 'seven', 0]) {
    expect(await refuse(request(id, 'tools/list'))).toMatchObject({ id, error: { code: -32029 } });
  }
  const long = await post(hub, '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', withKey(key));
  expect(long.text).toContain('"id":9007199254740993,');
  const headers = { 'MCP-Protocol-Version': '2025-11-25' };
  expect(await refuse(request(8, 'tools/list'), headers)).toMatchObject({ id: 8, error: { code: -32029 } });
  // What has no id of one message, or is too long to be read for it, is refused without.
  for (const body of [
    [request(1, 'tools/list')],
    { jsonrpc: '2.0', method: 'ping' },
    '{',
    request(1, 'x'.repeat(20_000)),
  ]) {
    expect(await refuse(body)).toMatchObject({ id: null, error: { code: -32029 } });
  }
  const door = await call(hub, '/mcp', {
    method: 'POST',
    headers: { ...withKey(key), 'Content-Type': 'application/json' } as Record<string, string>,
    body: JSON.stringify(request(9, 'ping')),
  });
  expect([door.status, door.json()]).toMatchObject([429, { id: 9 }]);
});
