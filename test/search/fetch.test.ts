/** Things are read by their ids, over the tool and REST. */
import { beforeAll, expect, test } from 'vitest';
import { callTool, structured, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Device, newDevice, sha256Of } from '../support/sync.ts';
import { useHub } from '../support/use-hub.ts';

interface Fetched {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly url: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const hub = useHub();
let owner: Device;
let other: Device;
let vault: string;

const fetchThing = (id: string, who = owner) => structured<Fetched>(hub, 'fetch', { id }, who.key);

beforeAll(async () => {
  owner = await newDevice(hub, 'laptop');
  other = await newDevice(hub, 'phone');
  await owner.push('notes/Grün & gut.md', '# Hello\n');
  await owner.push('bin', 'AP8B', { encoding: 'base64', sha256: sha256Of(new Uint8Array([0, 255, 1])) });
  const make = (name: string, args: object) => callTool(hub, name, args, owner.key);
  await make('create_task', { content: 'call the printer\nbefore noon' });
  await make('create_dev_doc', { title: 'CLAUDE.md', category: 'claude', content: 'Small commits.' });
  await make('handoff_save', { project: 'cairn', topic: 'release', content: 'Next: tag it.', date: '2026-11-20' });
  await make('handoff_save', { project: 'cairn', topic: 'release', content: 'Tagged.', date: '2026-11-21' });
  await make('create_paper', { title: 'On cairns', content: 'Stones.' });
  const { vaults } = await structured<{ vaults: { vault_id: string }[] }>(hub, 'vault_list', {}, owner.key);
  vault = vaults[0]?.vault_id ?? '';
});

test('[FIND-1] fetch reads a thing of every kind whole, with its page and what a change needs', async () => {
  const file = 'notes/Gr%C3%BCn%20%26%20gut.md';
  const page = `/vaults/${vault}/file?path=notes%2FGr%C3%BCn%20%26%20gut.md`;
  const task = { kind: 'task', version: 1, status: 'todo' };
  for (const [id, title, text, path, facts] of [
    ['cairn://tasks/1', 'call the printer', 'call the printer\nbefore noon', '/tasks/1', task],
    ['cairn://docs/claude/CLAUDE.md', 'CLAUDE.md', 'Small commits.', '/documents/docs/1', { kind: 'doc', version: 1 }],
    ['cairn://handoffs/1', 'release', 'Next: tag it.', '/documents/handoffs/1', { date: '2026-11-20' }],
    ['cairn://papers/1', 'On cairns', 'Stones.', '/documents/papers/1', { kind: 'paper', published: false }],
    [`cairn://vaults/${vault}/${file}`, 'Grün & gut.md', '# Hello\n', page, { sha256: sha256Of('# Hello\n') }],
  ] as const) {
    const { metadata, ...rest } = await fetchThing(id);
    expect(rest).toEqual({ id, title, text, url: hub.url + path });
    expect(metadata).toMatchObject(facts);
    expect((await call(hub, path)).status).not.toBe(404);
  }
});

test('[FIND-1, CAT-1] a category in the trash is none, of a task and of a paper, and comes back', async () => {
  const make = <T>(name: string, args: object) => structured<T>(hub, name, args, owner.key);
  const { category } = await make<{ category: { id: number } }>('create_category', { name: 'Quay' });
  const of = { category_id: category.id };
  const { task } = await make<{ task: { id: number } }>('create_task', { content: 'rope', ...of });
  const { paper } = await make<{ paper: { id: number } }>('create_paper', { title: 'Ropes', content: 'x', ...of });
  const shown = async () =>
    await Promise.all(
      [`cairn://tasks/${task.id}`, `cairn://papers/${paper.id}`].map(
        async (id) => (await fetchThing(id)).metadata['category_id'],
      ),
    );
  expect(await shown()).toEqual([category.id, category.id]);
  await make('delete_category', { id: category.id });
  expect(await shown()).toEqual([null, null]);
  await make('update_category', { id: category.id, restore: true });
  expect(await shown()).toEqual([category.id, category.id]);
});

test('[FIND-1] other forms of an id name the same thing, which answers with its own', async () => {
  expect((await fetchThing('cairn://docs/1')).id).toBe('cairn://docs/claude/CLAUDE.md');
  expect(await fetchThing('cairn://handoffs/Cairn/release')).toMatchObject({
    id: 'cairn://handoffs/2',
    text: 'Tagged.',
  });
  expect((await fetchThing(`cairn://vaults/${vault}/NOTES/gr%C3%BCn%20%26%20gut.md`)).title).toBe('Grün & gut.md');
});

test('[FIND-1] a binary file has no text and says so', async () => {
  const { text, metadata } = await fetchThing(`cairn://vaults/${vault}/bin`);
  expect([text, metadata]).toEqual(['', expect.objectContaining({ has_text: false, size_bytes: 3 })]);
});

test('[FIND-1] REST answers the same as the tool', async () => {
  const path = '/api/fetch?id=cairn%3A%2F%2Ftasks%2F1';
  const answer = await call(hub, path, { headers: withKey(owner.key) });
  expect([answer.status, answer.json()]).toEqual([200, await fetchThing('cairn://tasks/1')]);
  expect((await call(hub, '/api/fetch?id=cairn%3A%2F%2Ftasks%2F99', { headers: withKey(owner.key) })).status).toBe(404);
});

test('[FIND-2] what is deleted or another account has does not exist; a wrong id is told the forms', async () => {
  const refused = async (id: string, who = owner) =>
    (await callTool(hub, 'fetch', { id }, who.key)).error?.message ?? 'answered';
  const unknown = await refused('cairn://tasks/77');
  expect(unknown).toContain('nothing has this id');
  for (const id of ['cairn://tasks/1', 'cairn://docs/1', 'cairn://papers/1', `cairn://vaults/${vault}/bin`])
    expect(await refused(id, other)).toBe(unknown);
  expect(await refused('cairn://task/1')).toContain('cairn://tasks/{id}');
});
