/** Requests with an idempotency key, over REST and the tool gateway: a repeat is answered, and nothing happens twice. */
import { beforeAll, expect, test } from 'vitest';
import { accessToken, callTool, listTools, mirrorTool, structured, withKey } from '../support/gateway.ts';
import { type Answer, call } from '../support/http.ts';
import { startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';
import { momentBetween } from '../support/moment.ts';
import { eachExample } from '../support/tool-examples.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ verified: true });
let owner: Account;
let bearer: string;

beforeAll(async () => {
  owner = await account(hub);
  bearer = await accessToken(hub, owner.email);
});

interface Sent {
  readonly method?: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly authorization?: string;
  readonly at?: Pick<typeof hub, 'url'>;
}

const send = (path: string, { method = 'POST', key, body, authorization = `Bearer ${bearer}`, at = hub }: Sent) =>
  call(at, path, {
    method,
    headers: { Authorization: authorization, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const shown = ({ status, text, headers }: Answer) => [status, text, headers.location];

const tasks = async () =>
  (await structured<{ tasks: { id: number; content: string }[] }>(hub, 'list_tasks', { limit: 500 }, owner.mcp_key))
    .tasks;

test('[EVENT-2] REST: the same request with the same key gets the same answer, and another one is refused', async () => {
  const asked = { key: 'create-1', body: { content: 'call the printer' } };
  const first = await send('/api/tasks', asked);
  expect(first.status).toBe(201);
  expect(shown(await send('/api/tasks', asked))).toEqual(shown(first));
  const other = await send('/api/tasks', { ...asked, body: { content: 'call the baker' } });
  expect([other.status, other.json()]).toEqual([422, { error: expect.stringContaining('idempotency key') }]);
  expect((await send('/api/categories', { ...asked, body: { name: 'Work' } })).status).toBe(422);
  expect((await send('/api/tasks', { ...asked, key: 'not usable' })).json()).toMatchObject({
    errors: { 'Idempotency-Key': [expect.any(String)] },
  });
  expect(await tasks()).toHaveLength(1);
  const { id } = first.json() as { id: number };
  const change = { method: 'PATCH', key: 'change-1', body: { completed: true, expected_version: 1 } };
  const changed = await send(`/api/tasks/${id}`, change);
  expect(shown(await send(`/api/tasks/${id}`, change))).toEqual(shown(changed));
  expect(changed.status).toBe(200);
  const remove = { method: 'DELETE', key: 'remove-1' };
  expect([(await send(`/api/tasks/${id}`, remove)).status, (await send(`/api/tasks/${id}`, remove)).status]).toEqual([
    204, 204,
  ]);
  expect((await send(`/api/tasks/${id}`, { method: 'DELETE' })).status).toBe(404);
});

test('[EVENT-2] every operation that creates something creates it once', async () => {
  const key = `McpKey ${owner.mcp_key}`;
  const commit = { authorization: key };
  const repeats: [string, Sent][] = [
    ['/api/categories', { body: { name: 'Home' } }],
    ['/api/papers', { body: { title: 'On cairns', content: 'Stones.' } }],
    ['/api/cert_mirror/credentials', { ...commit, body: {} }],
    ['/api/cert_mirror/credentials', { ...commit, body: { rotate: true } }],
    ['/api/cert_mirror/credentials/rotation', { ...commit, body: {} }],
    ['/api/cert_mirror/credentials/uploaders', { ...commit, body: { name: 'ci' } }],
  ];
  for (const [at, [path, asked]] of repeats.entries()) {
    const first = await send(path, { ...asked, key: `every-${at}` });
    expect([path, first.status]).toEqual([path, expect.toSatisfy((status) => status === 200 || status === 201)]);
    expect([path, ...shown(await send(path, { ...asked, key: `every-${at}` }))]).toEqual([path, ...shown(first)]);
  }
});

test('[EVENT-2] tools that create take a key as an argument, over both doors, and over REST in the header', async () => {
  const calls: [string, Record<string, unknown>][] = [
    ['create_task', { content: 'water the plants' }],
    [
      'add_tasks',
      {
        tasks: [
          { content: 'one', category: 'Garden' },
          { content: 'one', category: 'Garden' },
        ],
      },
    ],
    ['create_category', { name: 'Tools' }],
    ['create_dev_doc', { title: 'NOTES.md', content: 'a' }],
    ['update_dev_doc', { title: 'NOTES.md', content: 'b', mode: 'append' }],
    ['create_paper', { title: 'Twice', content: 'No.' }],
  ];
  for (const [name, args] of calls) {
    const keyed = { ...args, idempotency_key: `tool-${name}` };
    const first = await structured(hub, name, keyed, owner.mcp_key);
    expect(await structured(hub, name, keyed, owner.mcp_key)).toEqual(first);
    const headers = { ...withKey(owner.mcp_key), 'Idempotency-Key': `tool-${name}` };
    expect((await mirrorTool(hub, name, args, headers)).json()).toEqual(first);
    const other = await callTool(hub, name, { ...keyed, content: 'other', tasks: [] }, owner.mcp_key);
    expect(other.error).toMatchObject({ code: -32602, data: { field: 'idempotency_key' } });
  }
  const contents = (await tasks()).map(({ content }) => content).toSorted();
  expect(contents).toEqual(['one', 'one', 'water the plants']);
  const { doc } = await structured<{ doc: { content: string } }>(
    hub,
    'get_dev_doc',
    { title: 'NOTES.md' },
    owner.mcp_key,
  );
  expect(doc.content).toBe('ab');
  expect((await callTool(hub, 'create_task', { content: 'x', idempotency_key: 7 }, owner.mcp_key)).error).toMatchObject(
    {
      data: { field: 'idempotency_key' },
    },
  );
});

test('[EVENT-2] every tool that changes something answers a repeat with its key the same, and changes nothing', async () => {
  const maker = await account(hub);
  const position = async () =>
    (await call(hub, '/api/events?after=now', { headers: withKey(maker.mcp_key) })).json() as { cursor: string };
  const keyed = new Set<string>();
  for (const { name, inputSchema, annotations } of await listTools(hub)) {
    const takesKey = 'idempotency_key' in (inputSchema['properties'] as object);
    if (takesKey) keyed.add(name);
    // Without an account there is nothing to keep a key in; a listing only purges what is due.
    const isOther = name.endsWith('_and_get_key') || name === 'handoff_list';
    expect([name, takesKey]).toEqual([name, annotations['readOnlyHint'] !== true && !isOther]);
  }
  await eachExample(hub, async (name, args) => {
    const headers = { ...withKey(maker.mcp_key), 'Idempotency-Key': `each-${name}` };
    const first = await mirrorTool(hub, name, args, headers);
    expect([name, first.status, first.text]).toEqual([name, 200, first.text]);
    if (!keyed.has(name)) return first.json();
    const before = await position();
    const again = await mirrorTool(hub, name, args, headers);
    // It compares a device with the vault, at the time of the call.
    if (name !== 'vault_sync') expect([name, again.text]).toEqual([name, first.text]);
    expect([name, await position()]).toEqual([name, before]);
    return first.json();
  });
});

test('[EVENT-2] tools that read before they write act on what the first call read', async () => {
  const maker = await account(hub);
  const key = maker.mcp_key;
  const write = (id: string, content: string) => structured(hub, 'write', { id, content }, key);
  for (const id of ['edited.md', 'long.md', 'gone.md', 'moved/a.md', 'moved/b.md', 'past/a.md']) {
    await write(id, id === 'long.md' ? `${'line of a long file\n'.repeat(10_000)}end` : 'one two\n');
  }
  await structured(hub, 'write', { id: 'cairn://papers/new', content: '# On keys\n\none two' }, key);
  const old = await structured<{ id: string }>(hub, 'remember', { fact: 'The door is red.', about: 'door' }, key);
  const at = await momentBetween();
  await structured(hub, 'edit', { id: 'past/a.md', old: 'one', new: 'three' }, key);
  await write('past/later.md', 'later');
  const saved = { project: 'cairn', topic: 'keys', content: 'first' };
  const hash = 'a'.repeat(64);
  const calls: [string, Record<string, unknown>][] = [
    ['edit', { id: 'edited.md', old: 'one', new: 'one one' }],
    ['edit', { id: 'edited.md', append: 'more\n' }],
    ['edit', { id: 'long.md', old: 'end', new: 'the end' }],
    ['edit', { id: 'cairn://papers/1', old: 'two', new: 'two two' }],
    ['write', { id: 'new.md', content: 'new' }],
    ['write', { id: 'cairn://papers/new', content: '# A new one' }],
    ['write', { id: 'cairn://docs/rules/keys', content: 'Send one.' }],
    ['move', { id: 'moved/', to: 'there' }],
    ['remove', { ids: ['gone.md', 'new.md', 'cairn://papers/2'] }],
    ['restore', { id: 'gone.md' }],
    ['restore', { id: 'past', at }],
    ['handoff_save', saved],
    ['remember', { fact: 'The door is blue.', replaces: old.id }],
    ['sync_push', { path: 'pushed.md', content: 'pushed' }],
    ['sync_push', { path: 'long-pushed.md', content: 'pushed\n'.repeat(30_000) }],
    ['vault_create', { name: 'kept once' }],
  ];
  const states: string[] = [];
  const firsts: unknown[] = [];
  for (const [at_, [name, args]] of calls.entries()) {
    firsts.push(await structured(hub, name, { ...args, idempotency_key: `reads-${at_}` }, key));
  }
  const state = async () => JSON.stringify(await structured(hub, 'sync_pull', { initial: true }, key));
  states.push(await state());
  for (const [at_, [name, args]] of calls.entries()) {
    const again = await structured(hub, name, { ...args, idempotency_key: `reads-${at_}` }, key);
    expect([name, again]).toEqual([name, firsts[at_]]);
  }
  const files = (text: string) => /"files":(.*)/.exec(text)?.[1];
  expect(files(await state())).toBe(files(states[0] ?? ''));
  const { facts } = await structured<{ facts: { fact: string }[] }>(hub, 'recall', {}, key);
  expect(facts.map(({ fact }) => fact)).toEqual(['The door is blue.']);
  const conflict = { path: 'pushed.md', content: 'mine', base_sha: hash, idempotency_key: 'conflict' };
  const refused = [await callTool(hub, 'sync_push', conflict, key), await callTool(hub, 'sync_push', conflict, key)];
  expect(refused[0]?.error?.code).toBe(-32006);
  expect(refused[1]).toEqual({ ...refused[0], id: refused[1]?.id });
  const { conflicts } = await structured<{ conflicts: unknown[] }>(hub, 'sync_pending_conflicts', {}, key);
  expect(conflicts).toHaveLength(1);
});

test('[EVENT-2] of many equal requests at once one happens; the others get its answer or are told to wait', async () => {
  const asked = { key: 'at-once', body: { content: 'only once' } };
  const answers = await Promise.all(Array.from({ length: 24 }, () => send('/api/tasks', asked)));
  const made = answers.filter(({ status }) => status === 201);
  const busy = answers.filter(({ status }) => status === 409);
  expect(made.length + busy.length).toBe(24);
  expect(new Set(made.map(({ text }) => text)).size).toBe(1);
  for (const { headers } of busy) expect(headers['retry-after']).toBe('1');
  expect((await tasks()).filter(({ content }) => content === 'only once')).toHaveLength(1);
});

test('[EVENT-2] a key outlives the process, also one that is killed, with secrets that are shown once', async () => {
  const dataFolder = hub.dataFolder;
  const asked = { key: 'before', body: { name: 'nightly' }, authorization: `McpKey ${owner.mcp_key}` };
  const path = '/api/cert_mirror/credentials/uploaders';
  const first = await send(path, asked);
  await hub.kill();
  const again = await startHub({ dataFolder });
  try {
    const repeated = await send(path, { ...asked, at: again });
    expect(shown(repeated)).toEqual(shown(first));
    expect(repeated.json()).toMatchObject({ hmac_secret: expect.stringMatching(/^[0-9a-f]{64}$/) });
  } finally {
    await again.stop();
  }
});
