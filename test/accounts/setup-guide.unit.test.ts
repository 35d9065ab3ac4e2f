/** What is pasted to connect a client: by browser first, with a key as the second way, and never an address out of reach. */
import { expect, test } from 'vitest';
import { type SetupClient, setupClients, setupSteps } from '../../src/accounts/setup-guide.ts';

const PUBLIC = 'https://hub.example.com';
const LOCAL = 'http://127.0.0.1:8787';

const bothWays = setupClients.filter((client) => !['claude-ai', 'chatgpt', 'http'].includes(client));

test.each(bothWays)('[ONB-3, OAUTH-2] %s signs in by browser first, and has the key as the second way', (client) => {
  const [step] = setupSteps({ baseUrl: PUBLIC, offersSignIn: true }, client);
  expect(step?.paste).toContain(`${PUBLIC}/mcp`);
  expect(step?.paste).not.toContain('McpKey');
  expect(step?.with_key?.paste).toContain(`${PUBLIC}/api/mcp`);
  expect(step?.with_key?.paste).toContain('McpKey <MCP key>');
});

test.each(bothWays)(
  '[ONB-3] %s: a key made just now comes first; so does the key where a hub offers no sign-in',
  (client) => {
    const [fresh] = setupSteps({ baseUrl: PUBLIC, offersSignIn: true }, client, 'abc');
    expect([fresh?.paste.includes('McpKey abc'), fresh?.with_key]).toEqual([true, undefined]);
    const [only] = setupSteps({ baseUrl: PUBLIC, offersSignIn: false }, client);
    expect([only?.paste.includes('McpKey <MCP key>'), only?.with_key]).toEqual([true, undefined]);
  },
);

const reached: readonly (readonly [string, boolean, string])[] = [
  [PUBLIC, true, `${PUBLIC}/mcp`],
  [PUBLIC, false, 'CAIRN_OAUTH_METADATA'],
  [LOCAL, true, 'cannot reach 127.0.0.1:8787'],
  ['http://localhost:8787', true, 'cannot reach localhost:8787'],
  ['http://hub.example.com', true, 'CAIRN_PUBLIC_URL'],
  ['https://192.168.1.5', true, 'cannot reach 192.168.1.5'],
  ['https://[::1]:8443', true, 'cannot reach [::1]:8443'],
  ['https://hub.local', true, 'cannot reach hub.local'],
  ['https://nas', true, 'cannot reach nas'],
];

test.each(['claude-ai', 'chatgpt'] as const)(
  '[ONB-3] %s: an address that it reaches, or what to do',
  (client: SetupClient) => {
    for (const [baseUrl, offersSignIn, said] of reached) {
      const [step] = setupSteps({ baseUrl, offersSignIn }, client);
      expect([baseUrl, step?.paste]).toEqual([baseUrl, expect.stringContaining(said)]);
    }
  },
);

test('[ONB-3] every client has a step, in the same order', () => {
  expect(setupSteps({ baseUrl: LOCAL, offersSignIn: true }).map(({ client }) => client)).toEqual([...setupClients]);
  expect(setupSteps({ baseUrl: LOCAL, offersSignIn: false }).map(({ client }) => client)).toEqual([...setupClients]);
});
