/** Client ids that contain their metadata: what fits, what opens, and what stored registrations still do. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ActorRegistry } from '../../../src/actors/registry.ts';
import { allTables } from '../../../src/compose/tables.ts';
import { limits } from '../../../src/limits/service.ts';
import { isRegistered, OAuthClients } from '../../../src/oauth/clients/clients.ts';
import { isSealedClient, openClient, sealClient, shownClientId } from '../../../src/oauth/clients/sealed-client.ts';
import { oauthClientExpiries, oauthClients } from '../../../src/oauth/records.ts';
import { createSealer, hashKeyOf } from '../../../src/store/sealing/seal.ts';
import { Store } from '../../../src/store/store.ts';
import { forge } from '../../support/forge.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const masterKey = randomBytes(32);
const sealer = createSealer(masterKey);
const CALLER = { address: '192.0.2.1' };
const NOW = Date.parse('2026-11-20T12:00:00Z');
const DAY_MS = 86_400_000;

let store: Store;
let actors: ActorRegistry;
let clients: OAuthClients;

beforeEach(() => {
  store = new Store({ folder: temporaryFolder(), tables: allTables });
  actors = new ActorRegistry(store);
  clients = new OAuthClients({ store, actors, sealer, documents: 'off', now: () => NOW });
});

afterEach(async () => {
  await actors.drain();
  await store.close();
});

/** Name, redirects, and the most characters that its id may have. */
test.each([
  ['Claude', ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'], 180],
  ['ChatGPT', ['https://chatgpt.com/connector_platform_oauth_redirect'], 130],
  ['Cursor', ['cursor://anysphere.cursor-mcp/oauth/callback', 'https://www.cursor.com/agents/mcp/oauth/callback'], 180],
  [
    'Visual Studio Code',
    [
      'https://insiders.vscode.dev/redirect',
      'https://vscode.dev/redirect',
      'http://127.0.0.1/',
      'http://127.0.0.1:33418/',
      'http://localhost/',
      'http://localhost:33418/',
    ],
    340,
  ],
  ['MCP Inspector', ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'], 180],
  [null, ['http://127.0.0.1:33418/callback'], 110],
])('[OAUTH-7] %s registers with an id of a length that each client and proxy takes', (client_name, redirects, most) => {
  const metadata = { client_name, redirect_uris: redirects };
  const id = sealClient(sealer, metadata);
  expect(openClient(sealer, id)).toEqual(metadata);
  expect(id.length).toBeLessThanOrEqual(most);
  expect(sealClient(sealer, metadata)).not.toBe(id);
});

test('[OAUTH-7, LIM-2] metadata has exactly the most bytes, and one more is refused', () => {
  const metadata = (more: number) => {
    const uris = ['https://a.example/', 'https://b.example/'];
    const bytes = limits.clientMetadataBytesMax - JSON.stringify([null, ...uris]).length + more;
    return { client_name: null, redirect_uris: [`${uris[0]}${'x'.repeat(bytes)}`, uris[1] ?? ''] };
  };
  const id = sealClient(sealer, metadata(0));
  expect(openClient(sealer, id)?.redirect_uris.length).toBe(2);
  expect(id.length).toBeLessThanOrEqual(limits.redirectUriCharsMax);
  expect(() => sealClient(sealer, metadata(1))).toThrow('at most 1000 bytes together');
});

test('[OAUTH-7] no other id opens: of another hub, changed, cut, or longer', () => {
  const id = sealClient(sealer, { client_name: 'x', redirect_uris: ['https://app.example/callback'] });
  const at = Math.floor(id.length / 2);
  const changed = `${id.slice(0, at)}${id[at] === 'A' ? 'B' : 'A'}${id.slice(at + 1)}`;
  for (const other of [
    changed,
    id.slice(0, -4),
    `${id}AAAA`,
    `${id}=`,
    id.toUpperCase(),
    `ccl_${'0'.repeat(40)}`,
    '',
  ]) {
    expect(openClient(sealer, other)).toBeUndefined();
  }
  expect(openClient(createSealer(randomBytes(32)), id)).toBeUndefined();
});

test('[OAUTH-7] an id survives a change of the master key', () => {
  const metadata = { client_name: 'x', redirect_uris: ['https://app.example/callback'] };
  const id = sealClient(sealer, metadata);
  expect(openClient(createSealer(randomBytes(32), hashKeyOf(masterKey)), id)).toEqual(metadata);
});

test('[OAUTH-7] an id that people see is short, and of others it is whole', () => {
  const id = sealClient(sealer, { client_name: 'x', redirect_uris: ['https://app.example/callback'] });
  expect(shownClientId(id)).toBe(`${id.slice(0, limits.clientIdShownChars)}…`);
  for (const other of ['cairn-cli', `ccl_${'0'.repeat(32)}`, 'https://app.example/client.json']) {
    expect([isSealedClient(other), shownClientId(other)]).toEqual([false, other]);
  }
});

test('[OAUTH-7] a registration of an earlier version works until it expires, and longer once it is used', async () => {
  const ids = ['ccl_0', 'ccl_1', 'ccl_2'].map((id) => id.padEnd(36, '0'));
  const [fresh = '', late = '', operators = ''] = ids;
  const metadata = { client_name: 'Early', redirect_uris: ['https://app.example/callback'], registered_ms: 0 };
  await forge(store, (batch) => {
    batch.put(oauthClients, [fresh], { ...metadata, expires_ms: NOW + DAY_MS });
    batch.put(oauthClientExpiries, [NOW + DAY_MS, fresh], {});
    batch.put(oauthClients, [late], { ...metadata, expires_ms: NOW });
    batch.put(oauthClientExpiries, [NOW, late], {});
    batch.put(oauthClients, [operators], { ...metadata, expires_ms: null });
  });
  expect(await clients.find(fresh, CALLER)).toMatchObject({ client_name: 'Early', by_operator: false });
  expect(await clients.find(operators, CALLER)).toMatchObject({ by_operator: true });
  await expect(clients.find(late, CALLER)).rejects.toThrow('unknown or its registration has expired');
  for (const id of ids) await clients.noteUsed(id);
  expect(store.get(oauthClients, [fresh])?.expires_ms).toBe(NOW + limits.refreshTokenSeconds * 1000);
  expect(store.get(oauthClients, [operators])?.expires_ms).toBe(null);
  // What has expired goes with the next use of another.
  expect(ids.map((id) => isRegistered(store, id))).toEqual([true, false, true]);
  expect(store.range(oauthClientExpiries, { prefix: [] }).map(({ key }) => key[1])).toEqual([fresh]);
});
