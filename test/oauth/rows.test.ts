/** Statements of the RFCs on metadata (8414, 9728), registration (7591) and devices (8628), each against the running hub. */
import { expect, test } from 'vitest';
import { registerRaw } from '../support/authorize.ts';
import { type Answer, call } from '../support/http.ts';
import { askDevice, CLIENT, DEVICE_GRANT, poll, postForm, refusalOf } from '../support/oauth.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({
  env: { CAIRN_OAUTH_METADATA: 'on', CAIRN_SIGNIN_LIMIT: '0', CAIRN_RATE_LIMIT: '0' },
  loudest: 30,
});
const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource';
const REDIRECTS = { redirect_uris: ['https://app.example/callback'] };

type Document = Readonly<Record<string, unknown>>;

async function documentAt(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Document> {
  const answer = await call(hub, path, { headers });
  expect([answer.status, answer.headers['content-type']]).toEqual([200, expect.stringMatching(/^application\/json\b/)]);
  return answer.json();
}

const urlsIn = (document: Document): string[] =>
  Object.entries(document).flatMap(([name, value]) => (name.endsWith('_endpoint') ? [String(value)] : []));

/** A refusal of RFC 6749, 5.2, or of the HTTP layer before it. */
const refused = (answer: Answer, error: string): void => expect(refusalOf(answer)).toEqual([400, error]);

async function redirectsTo(uri: string, error: string | undefined): Promise<void> {
  const answer = await registerRaw(hub, { redirect_uris: [uri] });
  if (error === undefined) expect([uri, answer.status]).toEqual([uri, 201]);
  else expect([uri, ...refusalOf(answer)]).toEqual([uri, 400, error]);
}

const rows: readonly (readonly [row: string, holds: () => Promise<void>])[] = [
  [
    'RFC 8414, 2: every endpoint is an absolute URL of the issuer, and exists',
    async () => {
      const server = await documentAt(SERVER);
      const urls = urlsIn(server);
      expect(urls.length).toBeGreaterThan(4);
      for (const url of urls) {
        expect(new URL(url).origin).toBe(server['issuer']);
        expect((await call(hub, new URL(url).pathname, { method: 'OPTIONS' })).status).not.toBe(404);
      }
    },
  ],
  [
    'RFC 8414, 2: a grant that is listed is known, and another is unsupported_grant_type',
    async () => {
      const grants = (await documentAt(SERVER))['grant_types_supported'] as string[];
      for (const grant_type of grants) refused(await postForm(hub, '/oauth/token', { grant_type }), 'invalid_request');
      for (const grant_type of ['password', 'client_credentials', 'implicit', grants[0]?.toUpperCase() ?? '']) {
        refused(await postForm(hub, '/oauth/token', { grant_type }), 'unsupported_grant_type');
      }
    },
  ],
  [
    'RFC 8414, 3.1: the issuer has no path, so a path after the well-known one has no document',
    async () => {
      for (const path of ['/api/mcp', '/mcp', '/']) expect((await call(hub, SERVER + path)).status).toBe(404);
    },
  ],
  [
    'RFC 8414, 3.2: no member is null, empty or an empty list',
    async () => {
      for (const path of [SERVER, RESOURCE, `${RESOURCE}/mcp`]) {
        const values = Object.values(await documentAt(path));
        expect(
          values.filter((value) => value === null || value === '' || (Array.isArray(value) && value.length === 0)),
        ).toEqual([]);
      }
    },
  ],
  [
    'RFC 8414, 3.3: the issuer is the address that the document was fetched from',
    async () => {
      const { port } = new URL(hub.url);
      const host = `localhost:${port}`;
      const server = await documentAt(SERVER, { Host: host });
      expect(server['issuer']).toBe(`http://${host}`);
      expect(urlsIn(server).every((url) => url.startsWith(`http://${host}/`))).toBe(true);
    },
  ],
  [
    'RFC 9728, 3.3: resource is the address that the well-known path was made of',
    async () => {
      for (const path of ['', '/mcp', '/api/mcp']) {
        const { resource, authorization_servers: servers } = await documentAt(RESOURCE + path);
        expect(resource).toBe(hub.url + path);
        expect(servers).toEqual([(await documentAt(SERVER))['issuer']]);
      }
      expect((await call(hub, `${RESOURCE}/api/tasks`)).status).toBe(404);
    },
  ],
  [
    'RFC 9728, 5.1: a refusal names the metadata of the resource that was asked',
    async () => {
      const answer = await call(hub, '/mcp', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      });
      const [, url = ''] = /resource_metadata="([^"]+)"/.exec(String(answer.headers['www-authenticate'])) ?? [];
      expect([answer.status, (await documentAt(new URL(url).pathname))['resource']]).toEqual([401, `${hub.url}/mcp`]);
    },
  ],
  [
    'RFC 7591, 2: a redirect URI has no fragment, no script and no plain http beyond this machine',
    async () => {
      for (const uri of [
        'https://a.example/#x',
        'https://a.example/#',
        'javascript:alert(1)',
        'http://a.example/',
        'a',
        '',
      ]) {
        await redirectsTo(uri, 'invalid_redirect_uri');
      }
      for (const uri of [
        'https://a.example/?x=1',
        'http://127.0.0.1/cb',
        'http://[::1]:80/cb',
        'com.example.app:/cb',
      ]) {
        await redirectsTo(uri, undefined);
      }
    },
  ],
  [
    'RFC 7591, 2: what this hub does not use is ignored, also in other languages',
    async () => {
      const unused = {
        'client_name#ja': 'エージェント',
        jwks: { keys: [] },
        contacts: ['a@example.org'],
        software_id: 7,
      };
      const answer = await registerRaw(hub, { ...REDIRECTS, ...unused, unknown: { deep: [1] } });
      expect(answer.status).toBe(201);
      expect(Object.keys(answer.json()).filter((name) => name in unused || name === 'unknown')).toEqual([]);
    },
  ],
  [
    'RFC 7591, 3: registration is open: a token in the header changes nothing',
    async () => {
      const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer cat_wrong' };
      const body = JSON.stringify(REDIRECTS);
      expect((await call(hub, '/oauth/register', { method: 'POST', headers, body })).status).toBe(201);
    },
  ],
  [
    'RFC 7591, 3.1: a registration is JSON by POST',
    async () => {
      expect((await postForm(hub, '/oauth/register', { redirect_uris: 'https://a.example/' })).status).toBe(415);
      const headers = { 'Content-Type': 'application/json' };
      for (const body of ['', '{', '[1', '"x"']) {
        const answer = await call(hub, '/oauth/register', { method: 'POST', headers, body });
        expect(refusalOf(answer)).toEqual([400, expect.stringMatching(/^invalid_(request|client_metadata)$/)]);
      }
      // RFC 7592 is not offered: a registration is neither read nor changed.
      const { client_id: id } = (await registerRaw(hub, REDIRECTS)).json();
      for (const method of ['GET', 'PUT', 'DELETE']) {
        expect((await call(hub, `/oauth/register/${String(id)}`, { method })).status).toBe(404);
        expect((await call(hub, '/oauth/register', { method })).headers['allow']).toContain('POST');
      }
    },
  ],
  [
    'RFC 7591, 3.2.1: a public client has no secret, and each registration an id of its own',
    async () => {
      const [one, two] = [await registerRaw(hub, REDIRECTS), await registerRaw(hub, REDIRECTS)];
      expect(one.json()).not.toHaveProperty('client_secret');
      expect(one.json()['client_id']).not.toBe(two.json()['client_id']);
    },
  ],
  [
    'RFC 8628, 3.1: parameters without a value are as if left out, and unknown ones are ignored',
    async () => {
      const answer = await postForm(hub, '/oauth/device_authorization', `client_id=${CLIENT}&scope=&unknown=1`);
      expect(answer.status).toBe(200);
      expect((await call(hub, '/oauth/device_authorization')).headers['allow']).toContain('POST');
    },
  ],
  [
    'RFC 8628, 3.2: codes are new each time, and the device code is in no address',
    async () => {
      const [one, two] = [await askDevice(hub), await askDevice(hub)];
      expect(one.device_code).not.toBe(two.device_code);
      expect(one.user_code).not.toBe(two.user_code);
      expect(one.verification_uri_complete).toBe(`${one.verification_uri}?user_code=${one.user_code}`);
      expect(one.verification_uri_complete).not.toContain(one.device_code);
      expect(one.expires_in).toBeGreaterThan(one.interval);
    },
  ],
  [
    'RFC 8628, 3.4: a code that was never issued, and a user code in its place, are invalid_grant',
    async () => {
      const { user_code: code } = await askDevice(hub);
      for (const wrong of ['cdc_unknown', code, 'x'.repeat(500)]) refused(await poll(hub, wrong), 'invalid_grant');
    },
  ],
  [
    'RFC 8628, 3.5: pending is 400 and not cached, a poll by GET is none',
    async () => {
      const { device_code } = await askDevice(hub);
      const answer = await poll(hub, device_code);
      refused(answer, 'authorization_pending');
      expect(answer.headers['cache-control']).toBe('no-store');
      const query = new URLSearchParams({ grant_type: DEVICE_GRANT, device_code, client_id: CLIENT });
      expect((await call(hub, `/oauth/token?${query}`)).status).toBe(405);
    },
  ],
];

test.each(rows)('[OAUTH-1, OAUTH-2, OAUTH-4] %s', async (_, holds) => {
  await holds();
});
