/** The provider's keys: rotation, cool-down, a provider that is down, lies, or answers without end. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JWK } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Refusal } from '../../../src/common/fault.ts';
import { openLog } from '../../../src/common/log.ts';
import { limits } from '../../../src/limits/service.ts';
import { IdentityProvider } from '../../../src/oauth/provider/identity-provider.ts';
import { ProviderKeys } from '../../../src/oauth/provider/keys.ts';
import { post, toolRequest } from '../../support/gateway.ts';
import { type Hub, startHub } from '../../support/hub.ts';
import { AUDIENCE, Issuer } from '../../support/issuer.ts';
import { account } from '../../support/mirror.ts';

let issuer: Issuer;
let clock: { ms: number };
let provider: IdentityProvider;

beforeEach(async () => {
  issuer = await Issuer.start();
  clock = { ms: Date.now() };
  provider = open();
});

afterEach(() => issuer.close());

function open(): IdentityProvider {
  const now = () => clock.ms;
  const { log } = openLog('silent');
  const keys = new ProviderKeys({ issuer: issuer.url, log, now });
  return new IdentityProvider({ issuer: issuer.url, audience: AUDIENCE, keys, log, now });
}

const keyFetches = () => issuer.asked.filter((path) => path === '/keys').length;
const subjectOf = async (token: string) => (await provider.verify(token))?.subject;
const longToken = () => issuer.token('user', { claims: { exp: Math.floor(clock.ms / 1000) + 86_400 } });

/** What a check refuses with. */
async function refusal(token: string): Promise<string> {
  const error: unknown = await provider.verify(token).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof Refusal ? error.fault.kind : 'none';
}

test('[OAUTH-3] keys are fetched once for many tokens at the same moment, and kept', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.token('user')));
  expect(await Promise.all(tokens.map(subjectOf))).toEqual(Array(20).fill('user'));
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  expect(await subjectOf(await issuer.token('user'))).toBe('user');
  expect(keyFetches()).toBe(1);
});

test('[OAUTH-3] a new key is found by the first token that names it; a withdrawn key ends with it', async () => {
  const old = await longToken();
  expect(await subjectOf(old)).toBe('user');
  await issuer.rotate({ keepOld: true, alg: 'ES256' });
  clock.ms += limits.idpKeysCoolDownMs;
  expect(await subjectOf(await longToken())).toBe('user');
  expect([await subjectOf(old), keyFetches()]).toEqual(['user', 2]);
  await issuer.rotate({ alg: 'EdDSA' });
  clock.ms += limits.idpKeysCoolDownMs;
  expect(await subjectOf(await longToken())).toBe('user');
  expect(await subjectOf(old)).toBeUndefined();
});

test('[OAUTH-3] tokens that name keys that are nowhere cost one fetch per cool-down', async () => {
  expect(await subjectOf(await issuer.token('user'))).toBe('user');
  for (let sent = 0; sent < 10; sent += 1) {
    expect(await subjectOf(await issuer.token('user', { header: { kid: `made up ${sent}` } }))).toBeUndefined();
  }
  expect(keyFetches()).toBe(1);
  clock.ms += limits.idpKeysCoolDownMs;
  for (let sent = 0; sent < 10; sent += 1) await subjectOf(await issuer.token('user', { header: { kid: `${sent}` } }));
  expect(keyFetches()).toBe(2);
  // Another issuer's token is not even a reason to look.
  clock.ms += limits.idpKeysCoolDownMs;
  await subjectOf(await issuer.token('user', { claims: { iss: 'https://other.example.org' }, header: { kid: 'x' } }));
  expect(keyFetches()).toBe(2);
});

test('[OAUTH-3] old keys are renewed; a provider that is down is waited for with the keys at hand, and not for ever', async () => {
  const token = await longToken();
  expect(await subjectOf(token)).toBe('user');
  clock.ms += limits.idpKeysFreshMs + 1;
  expect([await subjectOf(token), keyFetches()]).toEqual(['user', 2]);
  issuer.misbehave = (_, response) => {
    response.writeHead(500).end();
    return true;
  };
  clock.ms += limits.idpKeysFreshMs + 1;
  expect(await subjectOf(token)).toBe('user');
  clock.ms += limits.idpKeysStaleMs - limits.idpKeysFreshMs - 1;
  expect(await subjectOf(token)).toBe('user');
  clock.ms += 1;
  expect(await refusal(token)).toBe('overloaded');
  issuer.misbehave = undefined;
  clock.ms += limits.idpKeysCoolDownMs;
  expect(await subjectOf(token)).toBe('user');
});

test('[OAUTH-3] while there are no keys a token is neither right nor wrong: 503 with Retry-After, and no flood of fetches', async () => {
  const { port } = issuer;
  await issuer.close();
  const hub: Hub = await startHub({ env: { CAIRN_IDP_ISSUER: issuer.url, CAIRN_IDP_AUDIENCE: AUDIENCE } });
  try {
    const { email, mcp_key: key } = await account(hub);
    await hub.cli('identity', 'link', '--email', email, '--subject', 'user');
    const headers = { Authorization: `Bearer ${await issuer.token('user')}` };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post(hub, toolRequest(1, 'list_tasks'), headers)),
    );
    for (const answer of answers) {
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, expect.stringMatching(/^[1-9]\d?$/)]);
    }
    const warned = hub.logs.filter((line) => String(line['msg']).includes('could not be fetched'));
    expect(warned).toHaveLength(1);
    // Everything else goes on.
    const own = await post(hub, toolRequest(1, 'list_tasks'), { Authorization: `McpKey ${key}` });
    expect(own.status).toBe(200);
  } finally {
    await hub.stop();
    issuer = await Issuer.start(port);
  }
});

type Trick = (request: IncomingMessage, response: ServerResponse) => boolean;

const json = (body: unknown) => (response: ServerResponse) => {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  return true;
};

const tricks: readonly (readonly [string, (issuer: Issuer) => Trick])[] = [
  [
    'metadata of another issuer',
    () => (request, response) =>
      request.url !== '/keys' &&
      json({ issuer: 'https://other.example.org', jwks_uri: `http://${request.headers.host}/keys` })(response),
  ],
  [
    'keys over plain http from elsewhere',
    ({ url }) =>
      (request, response) =>
        request.url !== '/keys' && json({ issuer: url, jwks_uri: 'http://keys.example.org/keys' })(response),
  ],
  [
    'keys from a file',
    ({ url }) =>
      (request, response) =>
        request.url !== '/keys' && json({ issuer: url, jwks_uri: 'file:///etc/passwd' })(response),
  ],
  ['keys that are no set', () => (request, response) => request.url === '/keys' && json({ keys: 'none' })(response)],
  [
    'keys that are no JSON',
    () => (request, response) => {
      if (request.url === '/keys') response.end('<html>');
      return request.url === '/keys';
    },
  ],
  [
    'a redirect',
    ({ url }) =>
      (request, response) => {
        if (request.url === '/keys') response.writeHead(302, { Location: `${url}/elsewhere` }).end();
        return request.url === '/keys';
      },
  ],
  [
    'an endless answer',
    () => (request, response) => {
      if (request.url !== '/keys') return false;
      const more = () => {
        if (!response.destroyed) response.write(Buffer.alloc(64 * 1024, 32), () => setImmediate(more));
      };
      response.writeHead(200);
      more();
      return true;
    },
  ],
];

test.each(tricks)('[OAUTH-3] a provider that answers with %s gives no keys', async (_, trick) => {
  const token = await issuer.token('user');
  issuer.misbehave = trick(issuer);
  expect(await refusal(token)).toBe('overloaded');
  issuer.misbehave = undefined;
  clock.ms += limits.idpKeysCoolDownMs;
  expect(await subjectOf(token)).toBe('user');
});

test('[OAUTH-3] a provider that does not answer is given up after its deadline', async () => {
  const token = await issuer.token('user');
  issuer.misbehave = () => true;
  expect(await refusal(token)).toBe('overloaded');
}, 120_000);

test('[OAUTH-3] without key ids each key that fits is tried; metadata of RFC 8414 does as well', async () => {
  await issuer.rotate({ keepOld: true });
  issuer.published = issuer.published.map((jwk) => ({ ...jwk, kid: undefined }) as unknown as JWK);
  issuer.misbehave = (request, response) =>
    request.url === '/.well-known/oauth-authorization-server' &&
    json({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` })(response);
  const { key } = issuer;
  const token = await issuer.token('user', { header: { kid: undefined }, key });
  expect(await subjectOf(token)).toBe('user');
  await issuer.rotate();
  expect(await subjectOf(await issuer.token('user', { header: { kid: undefined } }))).toBeUndefined();
});
