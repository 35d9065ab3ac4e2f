/** Pages are sent compressed where that tells nobody anything, and an open page is sent only what changed. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { masked, unmasked } from '../../src/web/forms/token.ts';
import { PASSWORD, structured } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type PageClient, signedUp } from '../support/page-client.ts';
import { useHub } from '../support/use-hub.ts';

/** Tasks on the board whose renewal is weighed; 10,000 in the form that is run by hand. */
const TASKS = Number(process.env['CAIRN_TEST_BOARD_TASKS'] ?? 300);
const RENEWAL_BYTES_MAX = 5 * 1024;
const ACCEPTED = { 'Accept-Encoding': 'gzip, deflate, br' };

const hub = useHub();
let client: PageClient;
let key = '';

beforeAll(async () => {
  client = await signedUp(hub, 'light@example.org', PASSWORD);
  [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
});

const tokensOf = (html: string) => [...html.matchAll(/name="csrf" value="([^"]*)"/g)].map(([, token = '']) => token);
/** The page without what differs each time: the masks. */
const withoutTokens = (html: string) => html.replaceAll(/name="csrf" value="[^"]*"/g, '');

test('[NET-14, WEB-6] a page is sent compressed to whoever accepts it, with a token that no two pages have alike', async () => {
  await structured(hub, 'create_task', { content: 'One' }, key);
  await client.open('/tasks');
  const whole = client.html;
  expect(client.answer?.headers['content-encoding']).toBeUndefined();
  const zipped = await client.send('/tasks', { headers: { 'Accept-Encoding': 'gzip' } });
  const brotli = await client.send('/tasks', { headers: { ...ACCEPTED, 'Sec-Fetch-Site': 'same-origin' } });
  expect([zipped.headers['content-encoding'], brotli.headers['content-encoding']]).toEqual(['gzip', 'br']);
  expect([zipped.headers.vary, brotli.headers['cache-control']]).toEqual(['Accept-Encoding', 'no-store']);
  const pages = [whole, gunzipSync(zipped.bytes).toString(), brotliDecompressSync(brotli.bytes).toString()];
  for (const page of pages) expect(withoutTokens(page)).toBe(withoutTokens(whole));
  const tokens = pages.map((page) => new Set(tokensOf(page)));
  expect(tokens.map(({ size }) => size)).toEqual([1, 1, 1]);
  const [first = '', second = '', third = ''] = tokens.flatMap((one) => [...one]);
  expect(new Set([first, second, third]).size).toBe(3);
  expect(new Set([first, second, third].map(unmasked)).size).toBe(1);
  // No page contains a part of the token that another one contains: a guess cannot be found by the length of pages.
  for (const page of pages) expect(page).not.toContain(unmasked(first).slice(0, 8));
  await client.post('/tasks', new URLSearchParams({ csrf: masked(unmasked(second)), content: 'Two' }));
  expect((await client.open('/tasks')).text).toContain('Two');
});

test('[NET-14] what shows a secret is not compressed, nor what another site asked for', async () => {
  const asked = { headers: ACCEPTED };
  await client.open('/settings');
  await client.post('/settings/keys', client.fieldsOf('/settings/keys', { name: 'robot' }));
  const withKey = await client.send('/settings', asked);
  expect([withKey.headers['content-encoding'], /[0-9a-f]{64}/.test(withKey.text)]).toEqual([undefined, true]);
  const without = await client.send('/settings', asked);
  expect(without.headers['content-encoding']).toBe('br');
  expect(brotliDecompressSync(without.bytes).toString()).not.toMatch(/[0-9a-f]{64}/);
  await client.open('/settings');
  await client.submit('/settings/second-factor');
  const setUp = await client.send('/settings/second-factor', asked);
  expect([setUp.status, setUp.headers['content-encoding']]).toEqual([200, undefined]);
  expect(setUp.text).toContain('otpauth');
  for (const site of ['cross-site', 'same-site']) {
    const answer = await client.send('/search?q=guess', { headers: { ...ACCEPTED, 'Sec-Fetch-Site': site } });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined]);
  }
  const short = await call(hub, '/nothing-here', { headers: { ...ACCEPTED, Accept: 'application/json' } });
  expect([short.bytes.length < 1024, short.headers['content-encoding']]).toEqual([true, undefined]);
});

test(`[NET-14, WEB-8] of a board of ${TASKS} tasks, an open page is sent the one card that changed`, async () => {
  const statuses = ['backlog', 'todo', 'in_progress', 'done'] as const;
  const many = await signedUp(hub, 'many@example.org', PASSWORD);
  const [own = ''] = /[0-9a-f]{64}/.exec(many.text) ?? [];
  const contents = Array.from({ length: TASKS }, (_, at) => ({
    content: `Task ${at}: ${['call', 'write', 'mend'][at % 3]} number ${(at * 7919) % TASKS} ${'and so on '.repeat(at % 9)}`,
    kanban_status: statuses[at % 4],
  }));
  for (let at = 0; at < TASKS; at += 20) {
    await Promise.all(contents.slice(at, at + 20).map((task) => structured(hub, 'create_task', task, own)));
  }
  const path = '/tasks?more=backlog&more=todo&more=in_progress&more=done';
  await many.open(path);
  const statesOf = (html: string) => [...html.matchAll(/data-state="([^"]*)"/g)].map(([, state = '']) => state);
  const shown = statesOf(many.html);
  expect(shown.length).toBe(Math.min(TASKS, 200));
  const id = Number(/data-task="(\d+)"/.exec(many.html)?.[1]);
  await structured(hub, 'update_task', { id, content: 'Changed by an agent' }, own);
  const live = { ...ACCEPTED, 'X-Live': ['1', ...shown].join(' ') };
  const renewal = await many.send(path, { headers: live });
  const html = brotliDecompressSync(renewal.bytes).toString();
  expect(renewal.bytes.length, `${renewal.bytes.length} bytes`).toBeLessThan(RENEWAL_BYTES_MAX);
  expect(html.match(/data-same/g)?.length).toBe(shown.length - 1);
  expect([statesOf(html).length, html.includes('Changed by an agent')]).toEqual([1, true]);
  // A state of another page, or of none, is of no card.
  const strange = await client.send('/tasks', { headers: { 'X-Live': `1 ${shown.join(' ')}` } });
  expect(strange.text).not.toContain('data-same');
});
