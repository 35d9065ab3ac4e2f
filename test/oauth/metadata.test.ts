/** The metadata documents: there unless turned off, and what oauth4webapi finds its way by. */
import * as oauth from 'oauth4webapi';
import { expect, test } from 'vitest';
import { ApiDocument } from '../openapi/support.ts';
import { newProof, queryOf } from '../support/authorize.ts';
import { PASSWORD } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { signedUp } from '../support/page-client.ts';
import { withHub } from '../support/use-hub.ts';

const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource';
const PATHS = [SERVER, RESOURCE, `${RESOURCE}/api/mcp`, `${RESOURCE}/mcp`];

test('[OAUTH-2, MCP-4] turned off, there are none: 404 in JSON, so that clients keep to their keys', async () => {
  const off = { CAIRN_OAUTH_METADATA: 'off', CAIRN_PUBLIC_URL: 'https://hub.example.org' };
  await withHub({ env: off }, async (hub) => {
    for (const path of PATHS) {
      const answer = await call(hub, path);
      expect([answer.status, answer.json()]).toEqual([404, { error: expect.any(String) }]);
    }
  });
});

test('[OAUTH-2, UA-3] by default they are there, on loopback too, for any User-Agent and as their OpenAPI description says', async () => {
  await withHub({}, async (hub) => {
    const document = await ApiDocument.of(hub);
    for (const path of PATHS) {
      const answer = await call(hub, path, { headers: { 'User-Agent': 'curl/8' } });
      expect(answer.status).toBe(200);
      const operation = document.operations.find((one) => one.path === path);
      expect(operation && document.differences(operation, answer)).toEqual([]);
    }
    expect((await call(hub, SERVER)).json()).toEqual({
      issuer: hub.url,
      authorization_endpoint: `${hub.url}/oauth/authorize`,
      registration_endpoint: `${hub.url}/oauth/register`,
      device_authorization_endpoint: `${hub.url}/oauth/device_authorization`,
      token_endpoint: `${hub.url}/oauth/token`,
      revocation_endpoint: `${hub.url}/oauth/revoke`,
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      scopes_supported: ['read', 'write', 'account', 'mcp'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
    });
  });
});

test('[OAUTH-2] oauth4webapi finds the endpoints from the gateway’s address alone', async () => {
  await withHub({}, async (hub) => {
    const options = { [oauth.allowInsecureRequests]: true } as const;
    const gateway = new URL(`${hub.url}/api/mcp`);
    const found = await oauth.resourceDiscoveryRequest(gateway, options);
    const resource = await oauth.processResourceDiscoveryResponse(gateway, found);
    const issuer = new URL(resource.authorization_servers?.[0] ?? '');
    const discovered = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
    const server = await oauth.processDiscoveryResponse(issuer, discovered);
    const headers = new Headers({ 'User-Agent': 'cairn-test/1' });
    const asked = await oauth.deviceAuthorizationRequest(
      server,
      { client_id: 'a' },
      oauth.None(),
      {},
      { ...options, headers },
    );
    expect(await oauth.processDeviceAuthorizationResponse(server, { client_id: 'a' }, asked)).toMatchObject({
      interval: 5,
    });
  });
});

test('[OAUTH-4] a hub without internet access fetches no client documents, so that clients register', async () => {
  const env = { CAIRN_OAUTH_METADATA: 'on', CAIRN_OAUTH_CLIENT_DOCUMENTS: 'off' };
  await withHub({ env }, async (hub) => {
    expect((await call(hub, SERVER)).json()).toMatchObject({ client_id_metadata_document_supported: false });
    const browser = await signedUp(hub, 'owner@example.org', PASSWORD);
    const clientId = 'https://client.example.org/oauth.json';
    const answer = await browser.open(`/oauth/authorize?${queryOf(clientId, newProof())}`);
    expect([answer.status, browser.text]).toEqual([
      400,
      expect.stringContaining('fetches no client metadata documents'),
    ]);
  });
});

test('[OAUTH-2] an https address that the operator set turns them on, and they name it', async () => {
  const env = { CAIRN_PUBLIC_URL: 'https://hub.example.org' };
  await withHub({ env }, async (hub) => {
    expect((await call(hub, SERVER)).json()).toMatchObject({ issuer: 'https://hub.example.org' });
    expect((await call(hub, `${RESOURCE}/api/mcp`)).json()).toMatchObject({
      resource: 'https://hub.example.org/api/mcp',
      authorization_servers: ['https://hub.example.org'],
      // What a client asks for that asks for all of it: nothing beyond the tools.
      scopes_supported: ['read', 'write'],
    });
  });
});
