/** Browser sign-in by the OAuth providers of the official MCP SDKs, v1 and v2, from the gateway's address alone. */
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, expect, test } from 'vitest';
import { REDIRECT } from '../support/authorize.ts';
import { PASSWORD } from '../support/gateway.ts';
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

/** The person at the browser. */
async function authorize(url: URL | undefined): Promise<string> {
  await browser.open(`${url?.pathname}${url?.search}`);
  const fields = browser.fieldsOf('/oauth/authorize', { answer: 'authorize' });
  const answer = await browser.post('/oauth/authorize', fields);
  const location = new URL(answer.headers['location'] as string);
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
  expect((await signedIn.listTools()).tools.length).toBeGreaterThan(20);
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
  expect((await signedIn.listTools()).tools.length).toBeGreaterThan(20);
  expect(await signedIn.callTool({ name: 'create_task', arguments: { content: 'x' } })).not.toHaveProperty('isError');
  await signedIn.close();
});
