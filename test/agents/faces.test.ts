/** The door for models: which tools it lists, and what a model sees of their results. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  callAsClient,
  GATEWAY,
  type ListedTool,
  listTools,
  PASSWORD,
  structured,
  withKey,
} from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { signedUp } from '../support/page-client.ts';

const DOOR = '/mcp';
const TOOLS_MAX = 18;
const TOKENS_MAX = 3000;

let hub: Hub;
let owner: Account;

beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
});

afterAll(async () => await hub.stop());

const tokensOf = (value: unknown) => Math.ceil(JSON.stringify(value).length / 4);
const names = (tools: readonly ListedTool[]) => tools.map(({ name }) => name);
const listed = async (door: string, key = owner.mcp_key) => await listTools(hub, withKey(key), door);

const asClient = (name: string, args: object, key = owner.mcp_key) =>
  callAsClient(hub, { door: DOOR, key }, name, args);

/** A new account, and its keys: one that writes and one that only reads. */
async function readerAndWriter(): Promise<{ readonly writer: string; readonly reader: string }> {
  const browser = await signedUp(hub, 'reader@example.org', PASSWORD);
  const [writer = ''] = /[0-9a-f]{64}/.exec(browser.text) ?? [];
  await browser.open('/settings');
  await browser.submit('/settings/keys', { name: 'reader', read_only: 'true' });
  const [reader = ''] = /[0-9a-f]{64}/.exec(browser.text) ?? [];
  return { writer, reader };
}

test('[MCP-8] the door for models lists at most 18 tools in at most 3,000 tokens', async () => {
  const tools = await listed(DOOR);
  expect(tools.length).toBeLessThanOrEqual(TOOLS_MAX);
  // Clients read the hints in `_meta` themselves.
  expect(tokensOf(tools.map(({ _meta, ...shown }) => shown))).toBeLessThanOrEqual(TOKENS_MAX);
  for (const name of [
    'read',
    'edit',
    'write',
    'list',
    'move',
    'remove',
    'history',
    'restore',
    'add_tasks',
    'handoff_save',
  ]) {
    expect(names(tools)).toContain(name);
  }
  for (const tool of tools) expect(tool.outputSchema).toBeUndefined();
});

/** What people say, and the tool that a client which loads tools when needed must find by its hint. */
const SAID: readonly (readonly [words: string, tool: string])[] = [
  ['remember', 'remember'],
  ['search notes', 'search'],
  ['find text in files', 'search'],
  ['what did we decide', 'recall'],
  ['undo', 'restore'],
  ['rename file', 'move'],
  ['todo', 'add_tasks'],
  ['what is next', 'list_tasks'],
  ['last backup', 'list'],
  ['append to note', 'edit'],
  ['resolve conflict', 'settle_conflict'],
  ['continue where we stopped', 'start_session'],
];

test('[MCP-8] each tool for models has a hint by which people find it; a session begins with one that is there', async () => {
  const tools = await listed(DOOR);
  const hints = new Map(
    tools.map(({ name, _meta }) => [name, (_meta?.['anthropic/searchHint'] as string | undefined) ?? '']),
  );
  expect([...hints].filter(([, hint]) => hint === '')).toEqual([]);
  const found = (words: string) => {
    const wanted = words.split(' ');
    const score = (hint: string) => wanted.filter((word) => hint.split(/\W+/).includes(word)).length;
    const best = Math.max(...[...hints.values()].map(score));
    return [...hints].filter(([, hint]) => best > 0 && score(hint) === best).map(([name]) => name);
  };
  for (const [words, tool] of SAID) expect([words, found(words)]).toEqual([words, expect.arrayContaining([tool])]);
  const always = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true);
  expect(names(always)).toEqual(['start_session']);
});

test('[MCP-8] the longest page of read is no longer than it tells clients', async () => {
  const { _meta: meta } = (await listed(DOOR)).find(({ name }) => name === 'read') ?? {};
  const most = Number(meta?.['anthropic/maxResultSizeChars']);
  await structured(hub, 'write', { id: 'full.txt', content: '"\n'.repeat(40_000) }, owner.mcp_key);
  const { result } = await asClient('read', { id: 'full.txt' });
  const { content, structuredContent } = result as { content: { text: string }[]; structuredContent: object };
  expect(content[0]?.text.length).toBeGreaterThan(30_000);
  expect(JSON.stringify(structuredContent).length).toBeLessThanOrEqual(most);
  await structured(hub, 'remove', { ids: ['full.txt'] }, owner.mcp_key);
});

test('[MCP-8] ?toolsets= lists more, at either door, and an unknown set is told', async () => {
  const models = names(await listed(DOOR));
  const vaults = names(await listed(`${DOOR}?toolsets=vaults`));
  expect(vaults).toEqual(expect.arrayContaining([...models, 'sync_pull', 'vault_create']));
  expect(vaults).not.toContain('create_paper');
  const all = names(await listed(`${DOOR}?toolsets=all`));
  expect(all.toSorted()).toEqual(names(await listed(`${GATEWAY}?toolsets=all`)).toSorted());
  expect(names(await listed(GATEWAY))).toEqual(
    expect.arrayContaining(['sync_pull', 'create_paper', 'signup_and_get_key']),
  );
  const answer = await call(hub, `${DOOR}?toolsets=vault`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...withKey(owner.mcp_key) },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
  expect(answer.text).toContain('there are models, tasks, documents, vaults, backups, account and all');
});

test('[MCP-8] a reading credential sees every tool that reads, no other, and can call each of them', async () => {
  const { writer, reader: key } = await readerAndWriter();
  await structured(hub, 'handoff_save', { project: 'cairn', topic: 'x', content: 'y' }, writer);
  const seen = await listed(`${GATEWAY}?toolsets=all`, key);
  const open = new Set(['signup_and_get_key', 'login_and_get_key', 'get_setup_guide']);
  const writing = seen.filter(({ name, annotations }) => annotations['readOnlyHint'] !== true && !open.has(name));
  // It may purge for a caller that may write, and for no other.
  expect(names(writing)).toEqual(['handoff_list']);
  expect(names(seen)).toEqual(
    expect.arrayContaining(['read', 'list', 'history', 'list_tasks', 'handoff_get', 'sync_pull']),
  );
  expect(await structured(hub, 'handoff_list', {}, key)).toMatchObject({ count: 1 });
  const refused = await asClient('write', { id: 'a.md', content: 'x' }, key);
  expect(JSON.stringify(refused)).toContain('this key may only read');
});

const CALLS: readonly (readonly [string, object])[] = [
  ['write', { id: 'notes/today.md', content: '# Today\n\n- "Call" the printer.\n' }],
  ['read', { id: 'notes/today.md' }],
  ['edit', { id: 'notes/today.md', append: '- More.' }],
  ['history', { id: 'notes/today.md' }],
  [
    'add_tasks',
    { tasks: Array.from({ length: 30 }, (_, index) => ({ content: `Task ${index}`, due_date: '2026-12-01' })) },
  ],
  ['list_tasks', { limit: 30 }],
  ['list', {}],
  ['list', { in: 'notes/' }],
  ['sync_list', {}],
  ['list_categories', {}],
  ['list_dev_docs', {}],
  ['vault_list', {}],
  ['sync_pull', { path: 'notes/today.md' }],
  ['sync_pull', { initial: true }],
  ['handoff_save', { project: 'a', topic: 'b', content: 'c' }],
  ['handoff_get', { project: 'a', topic: 'b' }],
  ['list_backups', {}],
];

test('[RPC-8] both halves of a result have the same words, and the structured one costs at most 1.2 times the text', async () => {
  let [texts, halves] = [0, 0];
  for (const [name, args] of CALLS) {
    const { result } = await asClient(name, args);
    const [item] = (result?.['content'] ?? []) as { text: string }[];
    // A client shows its model one of the two: neither may hold what the other lacks.
    expect([name, result?.['structuredContent']]).toEqual([name, { text: item?.text }]);
    texts += item?.text.length ?? 0;
    halves += JSON.stringify(result?.['structuredContent']).length;
  }
  expect(halves).toBeLessThanOrEqual(1.2 * texts);
});

test('[RPC-8] no text points to the other half, and detail: true gives hashes and clocks', async () => {
  await asClient('write', { id: 'big.txt', content: 'x\n'.repeat(60_000) });
  for (const args of [{ path: 'big.txt' }, { initial: true }]) {
    const { result } = await asClient('sync_pull', args);
    expect(JSON.stringify(result)).not.toMatch(/structuredContent (and|has)/);
  }
  const { result } = await asClient('sync_list', { detail: true });
  expect(result?.['structuredContent']).toMatchObject({
    files: expect.arrayContaining([expect.objectContaining({ sha256: expect.any(String), hlc: expect.any(String) })]),
  });
});

test('[RPC-8] a picture stands alone: a client that shows only the structured half would hide it', async () => {
  const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await asClient('sync_push', { path: 'dot.png', content: data, encoding: 'base64' });
  const { result } = await asClient('read', { id: 'dot.png' });
  expect(result?.['content']).toContainEqual({ type: 'image', mimeType: 'image/png', data });
  expect(result).not.toHaveProperty('structuredContent');
});
