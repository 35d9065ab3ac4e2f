/** Dynamic registration of OAuth clients (RFC 7591): what is taken, what is refused, and that it stays bounded. */
import { expect, test } from 'vitest';
import { registerRaw } from '../../support/authorize.ts';
import { refusalOf } from '../../support/oauth.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ env: { CAIRN_SIGNIN_LIMIT: '0', CAIRN_RATE_LIMIT: '0' }, loudest: 30, verified: true });
const REDIRECTS = { redirect_uris: ['https://app.example/callback'] };

test('[OAUTH-4] a client is given an id and no secret; members that are not used are ignored', async () => {
  const answer = await registerRaw(hub, {
    ...REDIRECTS,
    client_name: 'Агент 9000',
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    logo_uri: 'https://app.example/logo.png',
    scope: 'read',
  });
  expect([answer.status, answer.headers['cache-control']]).toEqual([201, 'no-store']);
  expect(answer.json()).toEqual({
    client_id: expect.stringMatching(/^ccl_[A-Za-z0-9_-]{60,200}$/),
    client_name: 'Агент 9000',
    ...REDIRECTS,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
});

test.each([
  ['no redirect', {}, 'invalid_redirect_uri'],
  ['an empty list', { redirect_uris: [] }, 'invalid_redirect_uri'],
  ['too many redirects', { redirect_uris: Array(11).fill('https://app.example/') }, 'invalid_redirect_uri'],
  ['a redirect that is not text', { redirect_uris: [1] }, 'invalid_redirect_uri'],
  ['a redirect that runs script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
  ['plain http', { redirect_uris: ['http://app.example/'] }, 'invalid_redirect_uri'],
  ['one good and one bad', { redirect_uris: ['https://a.example/', 'data:,x'] }, 'invalid_redirect_uri'],
  [
    'more than fits into an id',
    { redirect_uris: [1, 2, 3].map((n) => `https://app.example/${n}/${'x'.repeat(330)}`) },
    'invalid_client_metadata',
  ],
  ['a name that is not text', { ...REDIRECTS, client_name: {} }, 'invalid_client_metadata'],
  ['a name that turns the text around', { ...REDIRECTS, client_name: 'a\u202eb' }, 'invalid_client_metadata'],
  ['a name too long', { ...REDIRECTS, client_name: 'x'.repeat(101) }, 'invalid_client_metadata'],
  ['no code grant', { ...REDIRECTS, grant_types: ['implicit'] }, 'invalid_client_metadata'],
  ['no code response', { ...REDIRECTS, response_types: ['token'] }, 'invalid_client_metadata'],
  ['a list', [REDIRECTS], 'invalid_client_metadata'],
  ['null', null, 'invalid_client_metadata'],
])('[OAUTH-4] RFC 7591, 3.2.2: %s is refused', async (_, document, error) => {
  expect(refusalOf(await registerRaw(hub, document))).toEqual([400, error]);
});
