/** Refresh tokens and revocation from outside: rotation, the one retry, replay, concurrency, scope, what ends with what. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { accessToken } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import {
  CLIENT,
  isOpen,
  postForm,
  refresh,
  refusalOf,
  revoke,
  signInDevice,
  type Tokens,
  tokensOf,
} from '../support/oauth.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ loudest: 40, verified: true });
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const signIn = (): Promise<Tokens> => signInDevice(hub, owner);
const renewed = async ({ refresh_token }: Tokens): Promise<Tokens> => tokensOf(await refresh(hub, refresh_token));
const opens = ({ access_token }: Tokens): Promise<boolean> => isOpen(hub, `Bearer ${access_token}`);

test('[KEY-6] a refresh token is exchanged for another pair, and both access tokens open until they expire', async () => {
  const first = await signInDevice(hub, owner, { scope: 'mcp' });
  const answer = await refresh(hub, first.refresh_token, { client_id: CLIENT });
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  // The key came once, with the device code.
  expect(answer.json()).toEqual({
    access_token: expect.stringMatching(/^cat_/),
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: expect.stringMatching(/^crt_[A-Za-z0-9_-]{72}$/),
    scope: 'mcp',
  });
  const second = tokensOf(answer);
  expect(new Set([first.refresh_token, second.refresh_token]).size).toBe(2);
  expect(second.access_token).not.toBe(first.access_token);
  expect([await opens(first), await opens(second)]).toEqual([true, true]);
  let last = second;
  for (let turn = 0; turn < 5; turn += 1) last = await renewed(last);
  expect(await opens(last)).toBe(true);
});

test('[KEY-6] an answer that got lost is given again once: the same refresh token, another access token', async () => {
  const first = await signIn();
  const lost = await renewed(first);
  const again = await renewed(first);
  expect(again.refresh_token).toBe(lost.refresh_token);
  expect(again.access_token).not.toBe(lost.access_token);
  expect([await opens(lost), await opens(again)]).toEqual([true, true]);
  expect(await opens(await renewed(again))).toBe(true);
});

test('[KEY-6] a second retry is a replay: the whole family ends, and its access tokens with it', async () => {
  const first = await signIn();
  const second = await renewed(first);
  const retried = await renewed(first);
  expect(refusalOf(await refresh(hub, first.refresh_token))).toEqual([400, 'invalid_grant']);
  expect(await Promise.all([first, second, retried].map(opens))).toEqual([false, false, false]);
  expect(refusalOf(await refresh(hub, second.refresh_token))).toEqual([400, 'invalid_grant']);
  const line = await hub.waitForLog(({ msg }) => String(msg).includes('refresh token was reused'));
  expect(line).toMatchObject({ level: 40, account_id: owner.account_id });
});

test('[KEY-6] any token before the last one is a replay at once, however old', async () => {
  const first = await signIn();
  const second = await renewed(first);
  const third = await renewed(second);
  expect(refusalOf(await refresh(hub, first.refresh_token))).toEqual([400, 'invalid_grant']);
  expect([await opens(third), (await refresh(hub, third.refresh_token)).status]).toEqual([false, 400]);
});

test('[KEY-6] of two refreshes at the same moment both are given the same next token; a third ends the family', async () => {
  const first = await signIn();
  const pair = await Promise.all([renewed(first), renewed(first)]);
  expect(new Set(pair.map((tokens) => tokens.refresh_token)).size).toBe(1);
  const other = await signIn();
  const answers = await Promise.all(Array.from({ length: 6 }, () => refresh(hub, other.refresh_token)));
  // Which come before the replay is up to the order; none of them opens anything after it.
  const given = answers.filter((answer) => answer.status === 200).map(tokensOf);
  expect(given).toHaveLength(2);
  expect(await Promise.all(given.map(opens))).toEqual([false, false]);
  expect((await refresh(hub, given[0]?.refresh_token ?? '')).status).toBe(400);
});

test('[KEY-6] one family that ends leaves the others of the account alone', async () => {
  const [kept, ended] = [await signIn(), await signIn()];
  await renewed(await renewed(ended));
  expect((await refresh(hub, ended.refresh_token)).status).toBe(400);
  expect([await opens(kept), await opens(ended)]).toEqual([true, false]);
  expect((await refresh(hub, kept.refresh_token)).status).toBe(200);
});

test('[KEY-6] a made-up token, one with a character changed or in another spelling opens nothing and ends nothing', async () => {
  const { refresh_token: token } = await signIn();
  const slip = (at: number) => token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
  const wrong = [
    ...Array.from({ length: token.length }, (_, at) => slip(at)),
    token.slice(0, -1),
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    `crt_${randomBytes(54).toString('base64url')}`,
    // The same sign-in with another secret: whoever saw its id cannot end it.
    `crt_${Buffer.concat([Buffer.from(token.slice(4, 20), 'base64url'), randomBytes(42)]).toString('base64url')}`,
  ];
  for (const value of wrong) expect([value, (await refresh(hub, value)).status]).toEqual([value, 400]);
  for (const value of wrong) expect((await revoke(hub, value)).status).toBe(200);
  expect((await refresh(hub, token)).status).toBe(200);
});

test('[OAUTH-8, KEY-6] OAuth 2.1, 4.3.1: a refresh without client_id is refused, and ends nothing', async () => {
  const { refresh_token: token } = await signIn();
  const fields = { grant_type: 'refresh_token', refresh_token: token };
  const refused = await postForm(hub, '/oauth/token', fields);
  expect([refusalOf(refused), refused.json()['error_description']]).toEqual([
    [400, 'invalid_request'],
    'client_id is required',
  ]);
  tokensOf(await refresh(hub, token));
});

test('[KEY-6] another client cannot use or revoke a token, and does not end it by trying', async () => {
  const tokens = await signIn();
  const foreign = { client_id: 'another' };
  expect(refusalOf(await refresh(hub, tokens.refresh_token, foreign))).toEqual([400, 'invalid_grant']);
  expect(refusalOf(await revoke(hub, tokens.refresh_token, foreign))).toEqual([400, 'invalid_grant']);
  expect((await refresh(hub, tokens.refresh_token)).status).toBe(200);
});

test('[OAUTH-1] a refresh may name what was granted or less, and not more', async () => {
  const tokens = await signInDevice(hub, owner, { scope: 'account mcp' });
  expect(refusalOf(await refresh(hub, tokens.refresh_token, { scope: 'account admin' }))).toEqual([
    400,
    'invalid_scope',
  ]);
  const less = tokensOf(await refresh(hub, tokens.refresh_token, { scope: 'account' }));
  expect(less).toMatchObject({ scope: 'account mcp' });
  const plain = await signIn();
  expect(refusalOf(await refresh(hub, plain.refresh_token, { scope: 'mcp' }))).toEqual([400, 'invalid_scope']);
});

test('[OAUTH-1] revoking a refresh token ends its family at once; again, and unknown, is 200 all the same', async () => {
  const first = await signIn();
  const second = await renewed(first);
  const answer = await revoke(hub, second.refresh_token, { token_type_hint: 'access_token', client_id: CLIENT });
  expect([answer.status, answer.text, answer.headers['cache-control']]).toEqual([200, '', 'no-store']);
  expect([await opens(first), await opens(second)]).toEqual([false, false]);
  expect(refusalOf(await refresh(hub, second.refresh_token))).toEqual([400, 'invalid_grant']);
  for (const token of [second.refresh_token, first.refresh_token, 'crt_x', 'cat_x', 'x', 'f'.repeat(64)]) {
    expect((await revoke(hub, token)).status).toBe(200);
  }
});

test('[KEY-5] an operator who revokes the key of a device signs the device out: its refresh token made new tokens', async () => {
  const tokens = await signInDevice(hub, owner, { scope: 'mcp account', device_name: 'lost laptop' });
  const listed = await hub.cli('key', 'list', '--email', owner.email, '--json');
  const { keys } = JSON.parse(listed.stdout) as { keys: { key_id: string; name: string }[] };
  const id = keys.find(({ name }) => name.includes('lost laptop'))?.key_id ?? '';
  const revoked = await hub.cli('key', 'revoke', '--email', owner.email, '--id', id);
  expect(revoked).toMatchObject({ code: 0, stdout: `revoked ${id}; lost laptop is signed out\n` });
  expect(await isOpen(hub, `McpKey ${tokens.mcp_key}`)).toBe(false);
  expect(await opens(tokens)).toBe(false);
  expect(refusalOf(await refresh(hub, tokens.refresh_token))).toEqual([400, 'invalid_grant']);
  expect(await hub.cli('key', 'revoke', '--email', owner.email, '--id', id)).toMatchObject({ code: 1 });
});

test('[OAUTH-1] a used refresh token can be revoked too, since whoever has it had the sign-in', async () => {
  const first = await signIn();
  const second = await renewed(first);
  expect((await revoke(hub, first.refresh_token)).status).toBe(200);
  expect([await opens(second), (await refresh(hub, second.refresh_token)).status]).toEqual([false, 400]);
});

test('[OAUTH-1] revoking an access token ends that one alone; an MCP key too can be revoked by whoever has it', async () => {
  const tokens = await signInDevice(hub, owner, { scope: 'mcp' });
  const next = await renewed(tokens);
  await revoke(hub, tokens.access_token);
  expect([await opens(tokens), await opens(next)]).toEqual([false, true]);
  expect(await isOpen(hub, `McpKey ${tokens.mcp_key}`)).toBe(true);
  await revoke(hub, next.refresh_token);
  // The key is a key of its own: it outlives the sign-in until it is revoked itself.
  expect(await isOpen(hub, `McpKey ${tokens.mcp_key}`)).toBe(true);
  await revoke(hub, tokens.mcp_key ?? '');
  expect(await isOpen(hub, `McpKey ${tokens.mcp_key}`)).toBe(false);
  const minted = await accessToken(hub, owner.email);
  await revoke(hub, minted);
  expect(await isOpen(hub, `Bearer ${minted}`)).toBe(false);
  // The account key is not a token that a device was given.
  await revoke(hub, owner.account_key);
  expect(await isOpen(hub, `McpKey ${owner.account_key}`)).toBe(true);
});
