/** Tokens of an identity provider on the gateway, with a small provider of our own: what opens, and everything that must not. */
import { createHmac, createPublicKey } from 'node:crypto';
import { CompactSign, exportSPKI, importJWK, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mirrorTool, post, replyOf, toolRequest } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { AUDIENCE, Issuer, makeSigningKey, type TokenOptions } from '../../support/issuer.ts';
import { type Account, account } from '../../support/mirror.ts';
import { head, rawClient } from '../../support/raw.ts';

const SUBJECT = 'user-1';

let issuer: Issuer;
let hub: Hub;
let owner: Account;

beforeAll(async () => {
  issuer = await Issuer.start();
  hub = await startHub({ env: { CAIRN_IDP_ISSUER: issuer.url, CAIRN_IDP_AUDIENCE: AUDIENCE } });
  owner = await account(hub);
  await link(hub, owner.email, SUBJECT);
});

afterAll(async () => {
  expect(hub.logs.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  await hub.stop();
  await issuer.close();
});

async function link(to: Hub, email: string, subject: string): Promise<string> {
  const { code, stdout, stderr } = await to.cli('identity', 'link', '--email', email, '--subject', subject, '--json');
  if (code !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { identity_id: string }).identity_id;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
/** The status with which the gateway answers a call that needs an account. */
const opens = async (token: string, to = hub) => (await post(to, toolRequest(1, 'list_tasks'), bearer(token))).status;
const openedBy = async (options: TokenOptions, subject = SUBJECT) => await opens(await issuer.token(subject, options));
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

test('[OAUTH-3, KEY-8] a token of a linked subject opens the gateway and the tool mirror, on the linked account', async () => {
  const token = await issuer.token(SUBJECT);
  const made = await post(hub, toolRequest(1, 'create_task', { content: 'by a token of the provider' }), bearer(token));
  expect(replyOf(made).result).toMatchObject({
    structuredContent: { task: { content: 'by a token of the provider' } },
  });
  const listed = await mirrorTool(hub, 'list_tasks', {}, { Authorization: `McpKey ${owner.mcp_key}` });
  expect(listed.json()).toMatchObject({ count: 1 });
  expect((await mirrorTool(hub, 'list_tasks', {}, bearer(token))).json()).toEqual(listed.json());
  const line = await hub.waitForLog(({ route, status }) => route === '/api/mcp' && status === 200);
  expect(line).toMatchObject({ account_id: owner.account_id });
});

test('[OAUTH-3, KEY-2] it opens nothing but the gateway: not REST, not the mirror, not the account', async () => {
  const headers = bearer(await issuer.token(SUBJECT));
  for (const path of ['/api/tasks', '/api/categories', '/api/cert_mirror', '/api/account']) {
    expect([path, (await call(hub, path, { headers })).status]).toEqual([path, 401]);
  }
  const asKey = { Authorization: `McpKey ${await issuer.token(SUBJECT)}` };
  expect((await post(hub, toolRequest(1, 'list_tasks'), asKey)).status).toBe(401);
});

test('[OAUTH-3] a large body behind such a token arrives whole, also while the token is being checked', async () => {
  const content = 'x'.repeat(10_000);
  const batch = Array.from({ length: 60 }, (_, id) => toolRequest(id, 'create_task', { content }));
  const answer = await post(hub, batch, bearer(await issuer.token(SUBJECT)));
  expect(answer.json()).toHaveLength(60);
  expect((await post(hub, '{', bearer('a.b.c'))).status).toBe(401);
});

test('[OAUTH-3, NET-2, OPS-3] a body that is too large is told from its head, behind the token, and harms nobody', async () => {
  const good = await issuer.token(SUBJECT);
  for (const [token, expected] of [
    [good, 413],
    [`${good.slice(0, -4)}AAAA`, 401],
    [await issuer.token('stranger'), 401],
  ] as const) {
    for (const bytes of [17 * 2 ** 20, 2 ** 45]) {
      const client = await rawClient(hub.port);
      const lines = [`Content-Length: ${bytes}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json'];
      client.send(head('POST /api/mcp HTTP/1.1', lines));
      expect((await client.received(1)).map(({ status }) => status)).toEqual([expected]);
      client.socket.destroy();
    }
  }
  expect(await opens(good)).toBe(200);
});

test('[OAUTH-3, OPS-3] refused for want of memory while its token is still being checked, and the token is wrong as well', {
  timeout: 150_000,
}, async () => {
  const env = { CAIRN_IDP_ISSUER: issuer.url, CAIRN_IDP_AUDIENCE: AUDIENCE, CAIRN_INFLIGHT_BYTES: '83886080' };
  const full = await startHub({ env });
  const { mcp_key: key } = await account(full);
  const MEBIBYTE = 2 ** 20;
  const send = async (authorization: string, bytes: number) => {
    const client = await rawClient(full.port);
    const lines = [
      `Content-Length: ${16 * MEBIBYTE}`,
      `Authorization: ${authorization}`,
      'Content-Type: application/json',
    ];
    client.send(head('POST /api/mcp HTTP/1.1', lines));
    client.send(' '.repeat(bytes));
    return client;
  };
  // What one address may hold of 80 MiB, but for less than the first lease of one more body.
  const sizes = [16 * MEBIBYTE - 1, 16 * MEBIBYTE - 1, 16 * MEBIBYTE - 1, 12 * MEBIBYTE - 100_000];
  const holders = await Promise.all(sizes.map((bytes) => send(`McpKey ${key}`, bytes)));
  const wrong = `${(await issuer.token(SUBJECT)).slice(0, -4)}AAAA`;
  const status = async () => (await (await send(`Bearer ${wrong}`, 1)).received(1))[0]?.status;
  await expect.poll(status, { timeout: 60_000 }).toBe(503);
  for (const holder of holders) holder.socket.destroy();
  expect((await call(full, '/health')).status).toBe(200);
  expect(await full.stop()).toBe(0);
});

test('[OAUTH-3] an unlinked subject is 401 with what to do, and no account is made', async () => {
  const answer = await post(
    hub,
    toolRequest(1, 'list_tasks'),
    bearer(await issuer.token('stranger', { claims: { email: owner.email } })),
  );
  expect([answer.status, replyOf(answer).error]).toEqual([
    401,
    { code: -32001, message: expect.stringContaining('linked to no account') },
  ]);
  const verified = JSON.parse((await hub.cli('verify', '--json')).stdout) as Record<string, unknown>;
  expect(verified).toMatchObject({ ok: true, accounts: 1, identities: 1 });
});

test('[OAUTH-3] another audience, another issuer, no or a wrong subject, too early, too late: 401', async () => {
  const wrong: readonly (readonly [string, TokenOptions])[] = [
    ['another audience', { claims: { aud: 'https://other.example.org' } }],
    ['a list of others', { claims: { aud: ['a', 'b'] } }],
    ['an audience that begins like ours', { claims: { aud: `${AUDIENCE}/` } }],
    ['no audience', { without: ['aud'] }],
    ['another issuer', { claims: { iss: 'https://other.example.org' } }],
    ['an issuer with a slash more', { claims: { iss: `${issuer.url}/` } }],
    ['no issuer', { without: ['iss'] }],
    ['no subject', { without: ['sub'] }],
    ['an empty subject', { claims: { sub: '' } }],
    ['expired', { claims: { exp: inSeconds(-60) } }],
    ['no expiry', { without: ['exp'] }],
    ['an expiry that is not a number', { claims: { exp: 'tomorrow' as unknown as number } }],
    ['not yet valid', { claims: { nbf: inSeconds(120) } }],
  ];
  for (const [what, options] of wrong) {
    expect([what, await openedBy(options)]).toEqual([what, 401]);
  }
  expect(await openedBy({ claims: { aud: ['another', AUDIENCE], exp: inSeconds(-5) } })).toBe(200);
});

test('[OAUTH-3] alg none, a signature with the public key as a secret, a stranger’s key, a changed token: 401', async () => {
  const good = await issuer.token(SUBJECT);
  const [header = '', payload = '', signature = ''] = good.split('.');
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { kid, publicJwk } = issuer.key;
  const forged: string[] = [];
  for (const alg of ['none', 'None', 'NONE', '']) {
    forged.push(`${encode({ alg, kid })}.${payload}.`, `${encode({ alg, kid })}.${payload}.${signature}`);
  }
  const publicKey = createPublicKey({ key: publicJwk as Record<string, string>, format: 'jwk' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const spki = await exportSPKI((await importJWK(publicJwk, 'RS256')) as CryptoKey);
  for (const secret of [pem, spki, spki.trim(), JSON.stringify(publicJwk), publicJwk.n ?? '']) {
    for (const [alg, hash] of [
      ['HS256', 'sha256'],
      ['HS512', 'sha512'],
    ] as const) {
      const body = `${encode({ alg, kid })}.${payload}`;
      forged.push(`${body}.${createHmac(hash, secret).update(body).digest('base64url')}`);
    }
  }
  const stranger = await makeSigningKey('RS256');
  forged.push(await issuer.token(SUBJECT, { key: { ...stranger, kid } }));
  const extension = { alg: 'RS256', kid, crit: ['x'], x: 1 };
  const critical = new CompactSign(Buffer.from(payload, 'base64url')).setProtectedHeader(extension);
  forged.push(await critical.sign(issuer.key.privateKey, { crit: { x: true } }));
  // The key in the header itself, which nobody vouches for.
  const own = new SignJWT({ iss: issuer.url, aud: AUDIENCE, sub: SUBJECT, exp: inSeconds(300) });
  forged.push(await own.setProtectedHeader({ alg: 'RS256', jwk: stranger.publicJwk }).sign(stranger.privateKey));
  forged.push(
    `${header}.${encode({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'user-2' })}.${signature}`,
  );
  forged.push(
    `${header}.${payload}.${signature.slice(0, -2)}`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `.${payload}.`,
  );
  for (const token of forged) expect([token.slice(0, 60), await opens(token)]).toEqual([token.slice(0, 60), 401]);
  expect(await opens(good)).toBe(200);
});

test('[OAUTH-3] a set with a shared secret in it gives nobody a way in', async () => {
  const provider = await Issuer.start();
  const secret = Buffer.alloc(32, 7);
  provider.published.push({ kty: 'oct', k: secret.toString('base64url'), alg: 'HS256', kid: 'shared', use: 'sig' });
  const own = await startHub({ env: { CAIRN_IDP_ISSUER: provider.url, CAIRN_IDP_AUDIENCE: AUDIENCE } });
  try {
    await link(own, (await account(own)).email, SUBJECT);
    const claims = new SignJWT({ iss: provider.url, aud: AUDIENCE, sub: SUBJECT, exp: inSeconds(300) });
    expect(await opens(await claims.setProtectedHeader({ alg: 'HS256', kid: 'shared' }).sign(secret), own)).toBe(401);
    expect(await opens(await provider.token(SUBJECT), own)).toBe(200);
  } finally {
    await own.stop();
    await provider.close();
  }
});

test('[OAUTH-3] unlinked, the same token opens nothing at once; a foreign id is unknown; a linked subject stays with its account', async () => {
  const other = await account(hub);
  const token = await issuer.token('user-3');
  const id = await link(hub, other.email, 'user-3');
  expect([await opens(token), await link(hub, other.email, 'user-3')]).toEqual([200, id]);
  const taken = await hub.cli('identity', 'link', '--email', owner.email, '--subject', 'user-3');
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('another account')]);
  const foreign = await hub.cli('identity', 'unlink', '--email', owner.email, '--id', id);
  const unknown = await hub.cli('identity', 'unlink', '--email', owner.email, '--id', 'idn_0');
  expect([foreign.code, foreign.stderr]).toEqual([1, unknown.stderr]);
  expect((await hub.cli('identity', 'list', '--email', other.email)).stdout).toContain(`${id}  linked`);
  expect((await hub.cli('identity', 'unlink', '--email', other.email, '--id', id)).code).toBe(0);
  expect(await opens(token)).toBe(401);
});

test('[OAUTH-3, LIM-1] refused tokens count per address, and a token too many is 429', async () => {
  const env = { CAIRN_IDP_ISSUER: issuer.url, CAIRN_IDP_AUDIENCE: AUDIENCE, CAIRN_SIGNIN_LIMIT: '2' };
  const limited = await startHub({ env });
  try {
    const stranger = await issuer.token('stranger');
    expect([await opens(stranger, limited), await opens(`${stranger}x`, limited)]).toEqual([401, 401]);
    const answer = await post(limited, toolRequest(1, 'list_tasks'), bearer(stranger));
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  } finally {
    await limited.stop();
  }
});

test('[OAUTH-3, OPS-1] without the settings a token of a provider is any unknown token, and half of them stop the start', async () => {
  const plain = await startHub();
  try {
    expect(await opens(await issuer.token(SUBJECT), plain)).toBe(401);
    const { email } = await account(plain);
    const linked = await plain.cli('identity', 'link', '--email', email, '--subject', 'user-1');
    expect([linked.code, linked.stderr]).toEqual([1, expect.stringContaining('CAIRN_IDP_ISSUER')]);
  } finally {
    await plain.stop();
  }
});

test('[OAUTH-3] why a token was refused stands in the log, without the token, and not in the answer', async () => {
  const token = await issuer.token(SUBJECT, { claims: { aud: 'https://other.example.org' } });
  const answer = await post(hub, toolRequest(1, 'list_tasks'), bearer(token));
  expect(answer.status).toBe(401);
  expect(answer.text).not.toMatch(/aud|ERR_/);
  const line = await hub.waitForLog(
    ({ msg, reason }) => msg === 'a provider token was refused' && /aud/.test(String(reason)),
  );
  expect(line).toMatchObject({ issuer: issuer.url, reason: 'ERR_JWT_CLAIM_VALIDATION_FAILED aud' });
  expect(JSON.stringify(line)).not.toContain(token.slice(0, 40));
});
