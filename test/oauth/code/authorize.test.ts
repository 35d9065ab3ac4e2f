/** Browser sign-in of MCP clients: the flow, and every wrong request that the RFCs name. */
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { consent, newProof, queryOf, REDIRECT, redeem, register } from '../../support/authorize.ts';
import { callTool, PASSWORD, post, replyOf, request, structured, textOf, toolRequest } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import {
  askDevice,
  CLIENT,
  DEVICE_GRANT,
  isOpen,
  postForm,
  refresh,
  refusalOf,
  tokensOf,
} from '../../support/oauth.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ env: { CAIRN_OAUTH_METADATA: 'on', CAIRN_SIGNIN_LIMIT: '0' }, loudest: 40, verified: true });
let browser: PageClient;
/** Of an account of its own, because an account has a limited number of codes at a time. */
let other: PageClient;
let email: string;

beforeAll(async () => {
  email = `${randomBytes(4).toString('hex')}@example.org`;
  browser = await signedUp(hub, email, PASSWORD);
  other = await signedUp(hub, `other-${email}`, PASSWORD);
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function codeFor(clientId: string, proof = newProof(), changes = {}, person = browser) {
  const location = await consent(person, queryOf(clientId, proof, changes));
  return { proof, location, code: location.searchParams.get('code') ?? '' };
}

test('[OAUTH-4] a client registers, a person authorizes it, and its tokens open the gateway and the API', async () => {
  const clientId = await register(hub);
  const { proof, location, code } = await codeFor(clientId);
  expect(`${location.origin}${location.pathname}`).toBe(REDIRECT);
  expect(Object.fromEntries(location.searchParams)).toEqual({
    code: expect.stringMatching(/^cac_/),
    state: 'state-1',
    iss: hub.url,
  });
  const tokens = tokensOf(await redeem(hub, clientId, code, proof));
  expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'read write' });
  const made = await post(
    hub,
    toolRequest(1, 'create_task', { content: 'from a client' }),
    bearer(tokens.access_token),
  );
  expect(textOf(replyOf(made))).toContain('from a client');
  expect((await call(hub, '/api/tasks', { headers: bearer(tokens.access_token) })).status).toBe(200);
  const next = tokensOf(await refresh(hub, tokens.refresh_token, { client_id: clientId }));
  expect(await isOpen(hub, `Bearer ${next.access_token}`)).toBe(true);
});

test('[OAUTH-4] the page names client, redirect host, account and scopes, and somebody who is not signed in signs in first', async () => {
  const query = queryOf(await register(hub), newProof(), { scope: 'read' });
  await browser.open(`/oauth/authorize?${query}`);
  for (const part of ['Test agent', 'not verified', '127.0.0.1:7777', email, 'Read everything']) {
    expect(browser.text).toContain(part);
  }
  expect(browser.text).not.toContain('Create, change');
  const stranger = await call(hub, `/oauth/authorize?${query}`);
  expect([stranger.status, stranger.headers['location']]).toEqual([
    303,
    `/signin?next=${encodeURIComponent(`/oauth/authorize?${query}`)}`,
  ]);
});

test('[OAUTH-4] a person who denies sends the client away with access_denied', async () => {
  const location = await consent(browser, queryOf(await register(hub), newProof()), { answer: 'deny' });
  expect(Object.fromEntries(location.searchParams)).toMatchObject({ error: 'access_denied', state: 'state-1' });
});

test('[OAUTH-4] connected apps stand in the settings and lose access at once when they are revoked', async () => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId);
  const tokens = tokensOf(await redeem(hub, clientId, code, proof));
  await browser.open('/settings');
  expect(browser.text).toContain('Connected apps');
  const action = browser.forms.find((form) => form.html.includes('Revoke access'))?.action ?? '';
  await browser.submit(action);
  expect(await isOpen(hub, `Bearer ${tokens.access_token}`)).toBe(false);
  expect(refusalOf(await refresh(hub, tokens.refresh_token, { client_id: clientId }))).toEqual([400, 'invalid_grant']);
});

/** Requests that are told to the person: an answer to such a redirect would go to somebody else. */
test.each([
  ['an unknown client', { client_id: 'ccl_00000000000000000000000000000000' }],
  ['no client', { client_id: undefined }],
  ['two clients', { client_id: ['a', 'b'] }],
  ['a redirect that is not registered', { redirect_uri: 'https://attacker.example/callback' }],
  ['a redirect with another path', { redirect_uri: `${REDIRECT}/more` }],
  ['a redirect with a query', { redirect_uri: `${REDIRECT}?next=1` }],
  ['a redirect with another host that loopback allows', { redirect_uri: 'http://localhost:7777/callback' }],
  ['a redirect that only begins alike', { redirect_uri: 'http://127.0.0.1:7777@attacker.example/callback' }],
  ['two redirects', { redirect_uri: [REDIRECT, 'https://attacker.example/'] }],
])('[OAUTH-4] RFC 6749, 4.1.2.1: %s is a page and no redirect', async (_, changes) => {
  const clientId = await register(hub);
  const answer = await browser.open(`/oauth/authorize?${queryOf(clientId, newProof(), changes)}`);
  expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
  expect(browser.text).toContain('Nothing was authorized');
});

test.each([
  ['RFC 6749: another response type', 'unsupported_response_type', { response_type: 'token' }],
  ['OAuth 2.1: no response type', 'unsupported_response_type', { response_type: undefined }],
  ['RFC 7636: no challenge', 'invalid_request', { code_challenge: undefined }],
  ['RFC 9700: PKCE downgraded to plain', 'invalid_request', { code_challenge_method: 'plain' }],
  ['RFC 7636: no method, which means plain', 'invalid_request', { code_challenge_method: undefined }],
  ['RFC 7636: a challenge that is not a digest', 'invalid_request', { code_challenge: 'short' }],
  ['RFC 6749: an unknown scope', 'invalid_scope', { scope: 'read admin' }],
  ['RFC 8707: a foreign resource', 'invalid_target', { resource: 'https://other.example/mcp' }],
  [
    'RFC 8707: one good and one foreign resource',
    'invalid_target',
    { resource: ['GATEWAY', 'https://other.example/'] },
  ],
  ['RFC 8707: a relative resource', 'invalid_target', { resource: '/mcp' }],
  ['RFC 8707: a resource with a fragment', 'invalid_target', { resource: 'GATEWAY#part' }],
  ['RFC 8707: a resource that only begins alike', 'invalid_target', { resource: 'GATEWAY/more' }],
  ['RFC 6749: a parameter twice', 'invalid_request', { scope: ['read', 'write'] }],
  ['RFC 6749: a scope of other characters', 'invalid_scope', { scope: 'read "write"' }],
  ['RFC 9700: code and token at once', 'unsupported_response_type', { response_type: 'code token' }],
  ['RFC 7636: a padded challenge', 'invalid_request', { code_challenge: `${newProof().challenge}=` }],
  ['RFC 7636: a method in another case', 'invalid_request', { code_challenge_method: 's256' }],
])('[OAUTH-4] %s goes back to the client as %s', async (_, error, changes) => {
  const clientId = await register(hub);
  const query = queryOf(clientId, newProof(), changes).replace('GATEWAY', encodeURIComponent(`${hub.url}/mcp`));
  const answer = await browser.send(`/oauth/authorize?${query}`);
  const location = new URL(answer.headers['location'] as string);
  expect([answer.status, location.origin + location.pathname]).toEqual([303, REDIRECT]);
  expect(Object.fromEntries(location.searchParams)).toMatchObject({ error, state: 'state-1', iss: hub.url });
});

test.each([
  ['RFC 6749, 3.1: an unknown parameter', { ui_locales: 'ko', nonce: 'x' }],
  ['RFC 6749, 3.1: parameters without a value', { scope: '', resource: '' }],
  ['RFC 6749, 4.1.1: no state', { state: undefined }],
  ['RFC 8707: the gateway, named in full', { resource: 'GATEWAY' }],
])('[OAUTH-4] %s is accepted; the page is not framed, and its address is not passed on', async (_, changes) => {
  const query = queryOf(await register(hub), newProof(), changes).replace(
    'GATEWAY',
    encodeURIComponent(`${hub.url}/mcp`),
  );
  const page = await browser.send(`/oauth/authorize?${query}`);
  expect([page.status, page.headers['cache-control']]).toEqual([200, expect.stringContaining('no-store')]);
  // RFC 9700, 4.16 and 4.2.4.
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(page.headers['referrer-policy']).toMatch(/no-referrer|same-origin|^origin$/);
});

test('[OAUTH-4] RFC 9700, 4.12: after the consent form comes a 303, so that no browser sends the form on', async () => {
  const query = queryOf(await register(hub), newProof());
  await browser.open(`/oauth/authorize?${query}`);
  const answer = await browser.post('/oauth/authorize', browser.fieldsOf('/oauth/authorize', { answer: 'authorize' }));
  expect([answer.status, answer.headers['location']]).toEqual([303, expect.stringContaining(REDIRECT)]);
});

test('[OAUTH-4] RFC 8252: a loopback redirect may use another port, an https one may not', async () => {
  const clientId = await register(hub, 'http://127.0.0.1/callback', 'https://app.example/callback');
  const loopback = await browser.open(
    `/oauth/authorize?${queryOf(clientId, newProof(), { redirect_uri: 'http://127.0.0.1:51234/callback' })}`,
  );
  expect(loopback.status).toBe(200);
  const other = await browser.open(
    `/oauth/authorize?${queryOf(clientId, newProof(), { redirect_uri: 'https://app.example:8443/callback' })}`,
  );
  expect(other.status).toBe(400);
});

test.each([
  ['RFC 7636: another verifier', 'invalid_grant', { code_verifier: newProof().verifier }],
  ['RFC 7636: no verifier', 'invalid_request', { code_verifier: undefined }],
  ['RFC 7636: a verifier that is too short', 'invalid_request', { code_verifier: 'short' }],
  ['RFC 7636: a verifier that is too long', 'invalid_request', { code_verifier: 'x'.repeat(129) }],
  ['RFC 7636: a verifier of other characters', 'invalid_request', { code_verifier: '+'.repeat(43) }],
  ['RFC 6749: no code', 'invalid_request', { code: undefined }],
  ['RFC 6749: a code without a value', 'invalid_request', { code: '' }],
  ['RFC 6749: no client', 'invalid_request', { client_id: undefined }],
  ['RFC 6749: another client', 'invalid_grant', { client_id: 'ccl_00000000000000000000000000000000' }],
  ['RFC 6749: another redirect', 'invalid_grant', { redirect_uri: 'http://127.0.0.1:7778/callback' }],
  ['RFC 6749: the redirect left out', 'invalid_grant', { redirect_uri: undefined }],
  ['RFC 6749: an unknown code', 'invalid_grant', { code: 'cac_made-up' }],
  ['RFC 8707: another resource', 'invalid_target', { resource: 'https://other.example/' }],
])('[OAUTH-4] %s is refused with %s and uses up nothing', async (_, error, changes) => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId, newProof(), { resource: `${hub.url}/api/mcp` }, other);
  expect(refusalOf(await redeem(hub, clientId, code, proof, changes))).toEqual([400, error]);
  expect((await redeem(hub, clientId, code, proof)).status).toBe(200);
});

test('[OAUTH-8] RFC 8707, 2.2: a resource of another service is refused with each grant, named in the request or not', async () => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId);
  const foreign = { resource: 'https://other.example/mcp' };
  expect(refusalOf(await redeem(hub, clientId, code, proof, foreign))).toEqual([400, 'invalid_target']);
  const tokens = tokensOf(await redeem(hub, clientId, code, proof, { resource: `${hub.url}/mcp` }));
  const named = { client_id: clientId };
  expect(refusalOf(await refresh(hub, tokens.refresh_token, { ...named, ...foreign }))).toEqual([
    400,
    'invalid_target',
  ]);
  tokensOf(await refresh(hub, tokens.refresh_token, { ...named, resource: hub.url }));
  const device = await askDevice(hub);
  const poll = { grant_type: DEVICE_GRANT, device_code: device.device_code, client_id: CLIENT };
  expect(refusalOf(await postForm(hub, '/oauth/token', { ...poll, ...foreign }))).toEqual([400, 'invalid_target']);
  expect(refusalOf(await postForm(hub, '/oauth/token', poll))).toEqual([400, 'authorization_pending']);
});

test('[OAUTH-4] RFC 6749, 4.1.2: a code that comes again is refused and ends what it gave', async () => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId);
  const tokens = tokensOf(await redeem(hub, clientId, code, proof));
  expect(await isOpen(hub, `Bearer ${tokens.access_token}`)).toBe(true);
  expect(refusalOf(await redeem(hub, clientId, code, proof))).toEqual([400, 'invalid_grant']);
  expect(await isOpen(hub, `Bearer ${tokens.access_token}`)).toBe(false);
  expect(refusalOf(await refresh(hub, tokens.refresh_token, { client_id: clientId }))).toEqual([400, 'invalid_grant']);
});

test('[OAUTH-4] two exchanges of one code at once give tokens at most once, and none that live on', async () => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId);
  const answers = await Promise.all([1, 2, 3].map(() => redeem(hub, clientId, code, proof)));
  const given = answers.filter(({ status }) => status === 200);
  expect(given).toHaveLength(1);
  expect(await isOpen(hub, `Bearer ${given[0] === undefined ? '' : tokensOf(given[0]).access_token}`)).toBe(false);
});

test('[OAUTH-4, OAUTH-8] a forged form authorizes nothing, and one of another site with the right token neither', async () => {
  const query = queryOf(await register(hub), newProof());
  await browser.open(`/oauth/authorize?${query}`);
  const fields = browser.fieldsOf('/oauth/authorize', { answer: 'authorize' });
  const foreign = await browser.post('/oauth/authorize', fields, { Origin: 'https://attacker.example' });
  expect([foreign.status, foreign.headers['location']]).toEqual([403, undefined]);
  for (const site of ['cross-site', 'same-site']) {
    const sent = await browser.post('/oauth/authorize', fields, { 'Sec-Fetch-Site': site });
    expect([site, sent.status, sent.headers['location']]).toEqual([site, 403, undefined]);
  }
  fields.set('csrf', 'x');
  expect((await browser.post('/oauth/authorize', fields)).status).toBe(403);
});

test('[OAUTH-4] RFC 6749, 3.2 and 5.1: a token answer is not stored; unknown parameters are ignored, a repeated one refused', async () => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId, newProof(), {}, other);
  const twice = `grant_type=authorization_code&code=${code}&code=${code}&client_id=${clientId}`;
  expect(refusalOf(await postForm(hub, '/oauth/token', twice))).toEqual([400, 'invalid_request']);
  const answer = await redeem(hub, clientId, code, proof, { audience: 'x', scope: '' });
  expect([answer.status, answer.headers['cache-control']]).toEqual([200, expect.stringContaining('no-store')]);
});

test('[OAUTH-1, OAUTH-4] RFC 6749, 3.2 and RFC 7009, 2: the endpoints for programs answer POST alone', async () => {
  for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/register', '/oauth/device_authorization']) {
    const answer = await call(hub, path);
    expect([path, answer.status, answer.headers['allow']]).toEqual([path, 405, 'POST']);
  }
});

test('[OAUTH-1] RFC 7009, 2.1: a hint of an unknown or of the wrong kind changes nothing', async () => {
  for (const token_type_hint of ['access_token', 'saml', '']) {
    const clientId = await register(hub);
    const { proof, code } = await codeFor(clientId, newProof(), {}, other);
    const tokens = tokensOf(await redeem(hub, clientId, code, proof));
    const fields = { token: tokens.refresh_token, client_id: clientId, token_type_hint };
    expect((await postForm(hub, '/oauth/revoke', fields)).status).toBe(200);
    expect(await isOpen(hub, `Bearer ${tokens.access_token}`)).toBe(false);
  }
});

test('[OAUTH-4] RFC 6750, 2.3 and RFC 9700, 4.3.2: a token in an address opens nothing', async () => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId, newProof(), {}, other);
  const { access_token } = tokensOf(await redeem(hub, clientId, code, proof));
  for (const path of ['/mcp', '/api/tasks', '/api/account']) {
    expect([path, (await call(hub, `${path}?access_token=${access_token}`)).status]).toEqual([path, 401]);
  }
});

test('[OAUTH-4] unsupported grants are refused as RFC 6749 has it', async () => {
  for (const grant_type of ['password', 'client_credentials', 'implicit']) {
    expect(refusalOf(await postForm(hub, '/oauth/token', { grant_type, client_id: 'x' }))).toEqual([
      400,
      'unsupported_grant_type',
    ]);
  }
});

test('[OAUTH-5] a token of scope read reads, and is refused every change with insufficient_scope', async () => {
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId, newProof(), { scope: 'read' });
  const tokens = tokensOf(await redeem(hub, clientId, code, proof));
  expect(tokens.scope).toBe('read');
  const headers = bearer(tokens.access_token);
  expect((await post(hub, toolRequest(1, 'list_tasks'), headers)).json()).toHaveProperty('result.structuredContent');
  const refused = await post(hub, toolRequest(2, 'create_task', { content: 'x' }), headers);
  expect([refused.status, refused.json()]).toMatchObject([403, { id: 2, error: { code: -32003 } }]);
  expect(refused.headers['www-authenticate']).toMatch(/^Bearer .*error="insufficient_scope", scope="read write"$/);
  expect((await call(hub, '/api/tasks', { headers })).status).toBe(200);
  const created = await call(hub, '/api/tasks', {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ content: 'x' }),
  });
  expect([created.status, created.headers['www-authenticate']]).toEqual([403, expect.stringContaining('insufficient')]);
  const next = tokensOf(await refresh(hub, tokens.refresh_token, { client_id: clientId }));
  expect((await post(hub, toolRequest(3, 'create_task', { content: 'x' }), bearer(next.access_token))).status).toBe(
    403,
  );
});

test('[OAUTH-5] the person may give less than the client asked for', async () => {
  const clientId = await register(hub);
  const proof = newProof();
  const location = await consent(browser, queryOf(clientId, proof), { answer: 'authorize', access: 'read' });
  const tokens = tokensOf(await redeem(hub, clientId, location.searchParams.get('code') ?? '', proof));
  expect(tokens.scope).toBe('read');
});

test('[OAUTH-5] a read-only MCP key reads through every door and changes nothing', async () => {
  await browser.open('/settings');
  await browser.submit('/settings/keys', { name: 'reader', read_only: 'true' });
  const key = /[0-9a-f]{64}/.exec(browser.text)?.[0] ?? '';
  expect(await structured(hub, 'list_tasks', {}, key)).toHaveProperty('tasks');
  const asked = async (method: string, params = {}) =>
    replyOf(await post(hub, request(1, method, params), { Authorization: `McpKey ${key}` }));
  const { result } = await asked('resources/list');
  const [first] = (result?.['resources'] ?? []) as { uri: string }[];
  expect((await asked('resources/read', { uri: first?.uri })).result).toHaveProperty('contents');
  expect((await asked('prompts/list')).result).toHaveProperty('prompts');
  expect(await callTool(hub, 'create_task', { content: 'x' }, key)).toMatchObject({ error: { code: -32003 } });
  const rest = await call(hub, '/api/mcp/tools/create_task', {
    method: 'POST',
    headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
    body: '{"content":"x"}',
  });
  expect([rest.status, rest.headers['www-authenticate']]).toEqual([403, undefined]);
  const mirror = await call(hub, '/api/cert_mirror/credentials', {
    method: 'POST',
    headers: { Authorization: `McpKey ${key}`, 'Content-Type': 'application/json' },
    body: '{}',
  });
  expect(mirror.status).toBe(403);
});

test('[OAUTH-4] /mcp asks for a sign-in from the first message on, and says where', async () => {
  const message = JSON.stringify(request(1, 'initialize', { protocolVersion: '2025-11-25' }));
  const ask = (headers: Record<string, string>) =>
    call(hub, '/mcp', { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: message });
  for (const headers of [{}, bearer('cat_wrong')]) {
    // Codex and mcp-remote look with a GET first.
    for (const answer of [await ask(headers), await call(hub, '/mcp', { headers })]) {
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        `Bearer realm="cairn", resource_metadata="${hub.url}/.well-known/oauth-protected-resource/mcp", scope="read write"`,
      ]);
    }
  }
  const clientId = await register(hub);
  const { proof, code } = await codeFor(clientId);
  const tokens = tokensOf(await redeem(hub, clientId, code, proof));
  expect((await ask(bearer(tokens.access_token))).json()).toHaveProperty('result.serverInfo');
  expect((await call(hub, '/mcp', { headers: bearer(tokens.access_token) })).status).toBe(405);
});
