/** The device flow by oauth4webapi, a client that nobody here wrote. */
import * as oauth from 'oauth4webapi';
import { beforeAll, expect, test } from 'vitest';
import { AGENT, call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { approve } from '../support/oauth.ts';
import { useHub } from '../support/use-hub.ts';

const client: oauth.Client = { client_id: 'library client' };
const options = { [oauth.allowInsecureRequests]: true, headers: new Headers({ 'User-Agent': AGENT }) };

const hub = useHub();
let owner: Account;
let server: oauth.AuthorizationServer;

beforeAll(async () => {
  owner = await account(hub);
  server = {
    issuer: hub.url,
    device_authorization_endpoint: `${hub.url}/oauth/device_authorization`,
    token_endpoint: `${hub.url}/oauth/token`,
    revocation_endpoint: `${hub.url}/oauth/revoke`,
  };
});

async function askDevice(scope: string): Promise<oauth.DeviceAuthorizationResponse> {
  const response = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), { scope }, options);
  return await oauth.processDeviceAuthorizationResponse(server, client, response);
}

async function poll(deviceCode: string): Promise<oauth.TokenEndpointResponse> {
  const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), deviceCode, options);
  return await oauth.processDeviceCodeResponse(server, client, response);
}

async function refresh(token: string): Promise<oauth.TokenEndpointResponse> {
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, options);
  return await oauth.processRefreshTokenResponse(server, client, response);
}

test('[OAUTH-1, KEY-6] oauth4webapi asks, polls, is slowed down, gets tokens, refreshes and revokes', async () => {
  const codes = await askDevice('mcp');
  expect(codes).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${hub.url}/device` });
  await expect(poll(codes.device_code)).rejects.toMatchObject({ error: 'authorization_pending', status: 400 });
  await expect(poll(codes.device_code)).rejects.toMatchObject({ error: 'slow_down', status: 400 });
  await approve(hub, codes.user_code, owner.email);
  const tokens = await poll(codes.device_code);
  expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'mcp' });
  expect(tokens['mcp_key']).toMatch(/^[0-9a-f]{64}$/);
  const headers = { Authorization: `Bearer ${tokens.access_token}` };
  expect((await call(hub, '/api/account', { headers })).json()['email']).toBe(owner.email);
  const next = await refresh(tokens.refresh_token ?? '');
  expect(next.refresh_token).not.toBe(tokens.refresh_token);
  const revoked = await oauth.revocationRequest(server, client, oauth.None(), next.refresh_token ?? '', options);
  await oauth.processRevocationResponse(revoked);
  await expect(refresh(next.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
  expect((await call(hub, '/api/account', { headers })).status).toBe(401);
});

test('[OAUTH-1] oauth4webapi understands every refusal', async () => {
  await expect(askDevice('everything')).rejects.toMatchObject({ error: 'invalid_scope', status: 400 });
  await expect(poll('no such code')).rejects.toMatchObject({ error: 'invalid_grant' });
  const denied = await askDevice('account');
  await approve(hub, denied.user_code, owner.email, false);
  await expect(poll(denied.device_code)).rejects.toMatchObject({ error: 'access_denied' });
  const basic = oauth.ClientSecretBasic('a secret');
  const response = await oauth.refreshTokenGrantRequest(server, client, basic, 'crt_x', options);
  await expect(oauth.processRefreshTokenResponse(server, client, response)).rejects.toMatchObject({ status: 401 });
});
