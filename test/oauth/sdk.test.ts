/** Browser sign-in by clients of others, from the gateway's address alone: the official MCP SDKs, v1 and v2, and oauth4webapi. */
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as oauth from 'oauth4webapi';
import { beforeAll, expect, test } from 'vitest';
import { REDIRECT } from '../support/authorize.ts';
import { PASSWORD } from '../support/gateway.ts';
import { AGENT } from '../support/http.ts';
import { isOpen } from '../support/oauth.ts';
import { type PageClient, signedUp } from '../support/page-client.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ env: { CAIRN_OAUTH_METADATA: 'on', CAIRN_SIGNIN_LIMIT: '0' }, loudest: 40 });
let browser: PageClient;

beforeAll(async () => {
  browser = await signedUp(hub, 'owner@example.org', PASSWORD);
});

/** What both SDKs ask of an application: somewhere to keep things, and a browser. */
function provider() {
  const kept: Record<string, unknown> = {};
  return {
    opened: undefined as URL | undefined,
    kept,
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'SDK client', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' },
    state: () => 'state-of-the-client',
    clientInformation: () => kept['client'] as never,
    saveClientInformation(client: unknown) {
      kept['client'] = client;
    },
    tokens: () => kept['tokens'] as never,
    saveTokens(tokens: unknown) {
      kept['tokens'] = tokens;
    },
    redirectToAuthorization(url: URL) {
      this.opened = url;
    },
    saveCodeVerifier(verifier: string) {
      kept['verifier'] = verifier;
    },
    codeVerifier: () => String(kept['verifier']),
  };
}

/** The person at the browser; gives where the browser is sent afterwards. */
async function decide(url: URL | undefined, answer: string): Promise<URL> {
  await browser.open(`${url?.pathname}${url?.search}`);
  const sent = await browser.post('/oauth/authorize', browser.fieldsOf('/oauth/authorize', { answer }));
  return new URL(sent.headers['location'] as string);
}

async function authorize(url: URL | undefined): Promise<string> {
  const location = await decide(url, 'authorize');
  expect([location.searchParams.get('state'), location.searchParams.get('iss')]).toEqual([
    'state-of-the-client',
    hub.url,
  ]);
  return location.searchParams.get('code') ?? '';
}

test('[OAUTH-4, MCP-5] the SDK v1 finds its way to the sign-in, exchanges the code and calls', async () => {
  const authProvider = provider();
  const url = new URL(`${hub.url}/mcp`);
  const transport = () => new StreamableHTTPClientTransport(url, { authProvider: authProvider as never });
  const first = transport();
  const client = new Client({ name: 'v1', version: '1' });
  await expect(client.connect(first as never)).rejects.toThrow(/Unauthorized/);
  await first.finishAuth(await authorize(authProvider.opened));
  const signedIn = new Client({ name: 'v1', version: '1' });
  await signedIn.connect(transport() as never);
  expect((await signedIn.listTools()).tools).toHaveLength(18);
  expect(await signedIn.callTool({ name: 'create_task', arguments: { content: 'x' } })).not.toHaveProperty('isError');
  await signedIn.close();
});

test('[OAUTH-4, MCP-5] the SDK v2 finds its way to the sign-in, exchanges the code and calls', async () => {
  const authProvider = provider();
  const url = new URL(`${hub.url}/mcp`);
  const transport = () => new NewTransport(url, { authProvider: authProvider as never });
  const first = transport();
  const client = new NewClient({ name: 'v2', version: '1' });
  await expect(client.connect(first)).rejects.toThrow(/Unauthorized/i);
  // This one checks the issuer that came with the code (RFC 9207).
  await first.finishAuth(await authorize(authProvider.opened), hub.url);
  const signedIn = new NewClient({ name: 'v2', version: '1' });
  await signedIn.connect(transport());
  expect((await signedIn.listTools()).tools).toHaveLength(18);
  expect(await signedIn.callTool({ name: 'create_task', arguments: { content: 'x' } })).not.toHaveProperty('isError');
  await signedIn.close();
});

const options = { [oauth.allowInsecureRequests]: true, headers: new Headers({ 'User-Agent': AGENT }) };

/** The server, found from the address of the gateway alone, and a client registered there. */
async function findAndRegister() {
  const gateway = new URL(`${hub.url}/mcp`);
  const resource = await oauth.processResourceDiscoveryResponse(
    gateway,
    await oauth.resourceDiscoveryRequest(gateway, options),
  );
  const issuer = new URL(resource.authorization_servers?.[0] ?? '');
  const found = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
  const server = await oauth.processDiscoveryResponse(issuer, found);
  expect(server).toMatchObject({
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  // Not offered, so a client does not try them (RFC 9449, RFC 9126).
  expect(server).not.toHaveProperty('dpop_signing_alg_values_supported');
  expect(server).not.toHaveProperty('pushed_authorization_request_endpoint');
  const metadata = { client_name: 'library', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' };
  const client = (await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(server, metadata, options),
  )) as oauth.Client;
  return { server, client, resource: resource.resource };
}

test('[OAUTH-2, OAUTH-4] oauth4webapi finds, registers, proves, checks the issuer, exchanges, refreshes and revokes', async () => {
  const { server, client, resource } = await findAndRegister();
  const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
  const address = new URL(server.authorization_endpoint ?? '');
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: REDIRECT,
    scope: 'read',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource,
  }).toString();
  const denied = await decide(address, 'deny');
  expect(() => oauth.validateAuthResponse(server, client, denied, state)).toThrow(oauth.AuthorizationResponseError);
  const location = await decide(address, 'authorize');
  const answered = oauth.validateAuthResponse(server, client, location, state);
  // RFC 9207: the answer of another server, or one that does not say whose it is, is refused by the client.
  for (const iss of ['https://attacker.example', undefined]) {
    const mixed = new URL(location);
    if (iss === undefined) mixed.searchParams.delete('iss');
    else mixed.searchParams.set('iss', iss);
    expect(() => oauth.validateAuthResponse(server, client, mixed, state)).toThrow(/iss/);
  }

  const exchange = async (proof: string) =>
    await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), answered, REDIRECT, proof, options),
    );
  await expect(exchange(oauth.generateRandomCodeVerifier())).rejects.toMatchObject({ error: 'invalid_grant' });
  const tokens = await exchange(verifier);
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'read' });
  const next = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token ?? '', options),
  );
  expect(await isOpen(hub, `Bearer ${next.access_token}`)).toBe(true);
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, oauth.None(), next.refresh_token ?? '', options),
  );
  expect(await isOpen(hub, `Bearer ${next.access_token}`)).toBe(false);
});
