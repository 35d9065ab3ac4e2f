/** Collects well-formed requests of one account from a hub, for a fuzzer to change: page forms, uploads, OAuth, MCP. */
import type { FuzzedRequest } from './fuzz.ts';
import { PASSWORD } from './gateway.ts';
import { call } from './http.ts';
import type { Hub } from './hub.ts';
import { type Account, type Credential, randomCommit, uploadHeaders } from './mirror.ts';
import { FORM_TYPE, PageClient } from './page-client.ts';

const PAGES = [
  '/',
  '/tasks',
  '/board',
  '/vaults',
  '/mirror',
  '/documents',
  '/search',
  '/settings',
  '/device',
  '/accounts',
];
/** Its form would end the session that the other forms need. */
const SIGN_OUT = '/signout';
const BOUNDARY = 'fuzzed-parts';

/** Signs in with a browser and returns the requests. */
export async function samplesOf(hub: Hub, who: Account & Credential): Promise<FuzzedRequest[]> {
  const page = new PageClient(hub);
  await page.open('/signin');
  await page.submit('/signin', { email: who.email, password: PASSWORD });
  const forms = await formsOf(hub, page);
  return [...forms, ...oauthSamples(), uploadSample(who), upgradeSample(), ...(await sessionSamples(hub, who))];
}

async function formsOf(hub: Hub, page: PageClient): Promise<FuzzedRequest[]> {
  const found = new Map<string, FuzzedRequest>();
  const left = [...PAGES];
  for (let path = left.shift(); path !== undefined && found.size < 80; path = left.shift()) {
    if ((await page.open(path)).status !== 200) continue;
    const cookies = [...page.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { Cookie: cookies, Origin: hub.url, 'User-Agent': 'fuzz/1' };
    for (const { action, fields, html } of page.forms) {
      if (action === SIGN_OUT || found.has(action)) continue;
      const isUpload = html.includes('multipart/form-data');
      const type = isUpload ? `multipart/form-data; boundary=${BOUNDARY}` : FORM_TYPE;
      const body = Buffer.from(isUpload ? partsOf(fields) : fields.toString());
      found.set(action, { method: 'POST', path: action, headers: { ...headers, 'Content-Type': type }, body });
    }
    // Pages one step further, such as those of a vault.
    const links = [...page.html.matchAll(/ href="(\/(?:vaults|settings|documents|mirror)\/[^"#?]*)"/g)];
    if (PAGES.includes(path)) left.push(...links.map(([, link = '']) => link).slice(0, 5));
  }
  return [...found.values()];
}

function partsOf(fields: URLSearchParams): string {
  const part = (head: string, text: string) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  const plain = [...fields].map(([name, value]) => part(`name="${name}"`, value));
  return `${plain.join('')}${part('name="files"; filename="a/b.md"', 'text of a file')}--${BOUNDARY}--\r\n`;
}

function oauthSamples(): FuzzedRequest[] {
  const headers = { 'User-Agent': 'fuzz/1', 'Content-Type': FORM_TYPE };
  const post = (path: string, fields: Record<string, string>): FuzzedRequest => ({
    method: 'POST',
    path,
    headers,
    body: Buffer.from(new URLSearchParams(fields).toString()),
  });
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  const redirect = 'http://127.0.0.1:9/callback';
  const metadata = { client_name: 'fuzz', redirect_uris: [redirect], grant_types: ['authorization_code'] };
  return [
    post('/oauth/device_authorization', { client_id: 'fuzz', scope: 'read write' }),
    post('/oauth/token', { grant_type: device, device_code: 'x'.repeat(43), client_id: 'fuzz' }),
    post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x'.repeat(43), client_id: 'fuzz' }),
    post('/oauth/token', {
      grant_type: 'authorization_code',
      code: 'x'.repeat(43),
      code_verifier: 'y'.repeat(43),
      redirect_uri: redirect,
      client_id: 'fuzz',
    }),
    post('/oauth/revoke', { token: 'x'.repeat(43), client_id: 'fuzz' }),
    {
      method: 'POST',
      path: '/oauth/register',
      headers: { 'User-Agent': 'fuzz/1', 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(metadata)),
    },
  ];
}

function uploadSample(who: Credential): FuzzedRequest {
  const bytes = Buffer.from('a small archive');
  const headers = { ...uploadHeaders(who, randomCommit(), bytes), 'User-Agent': 'fuzz/1' };
  return { method: 'POST', path: '/api/cert_mirror', headers, body: bytes };
}

function upgradeSample(): FuzzedRequest {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'User-Agent': 'fuzz/1',
  };
  return { method: 'GET', path: '/api/mcp', headers, body: undefined };
}

/** A session of a client that can be asked, its tool call, and an answer of the client. */
async function sessionSamples(hub: Hub, { mcp_key: key }: Account): Promise<FuzzedRequest[]> {
  const capabilities = { elicitation: {} };
  const params = { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'fuzz', version: '1' } };
  const own = { Authorization: `McpKey ${key}`, 'User-Agent': 'fuzz/1', 'Content-Type': 'application/json' };
  const both = { ...own, Accept: 'application/json, text/event-stream' };
  const body = (message: object) => Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const begun = await call(hub, '/api/mcp', {
    method: 'POST',
    headers: both,
    body: body({ id: 1, method: 'initialize', params }).toString(),
  });
  const headers = { ...both, 'Mcp-Session-Id': String(begun.headers['mcp-session-id'] ?? '') };
  const post = (message: object): FuzzedRequest => ({ method: 'POST', path: '/api/mcp', headers, body: body(message) });
  return [
    post({ id: 1, result: { action: 'accept', content: {} } }),
    post({ id: 2, method: 'tools/call', params: { name: 'clear_done_tasks', arguments: {} } }),
    post({ method: 'notifications/cancelled', params: { requestId: 2 } }),
    { method: 'GET', path: '/api/mcp', headers: { ...headers, Accept: 'text/event-stream' }, body: undefined },
  ];
}
