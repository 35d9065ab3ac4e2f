/** What the tools for models take in one call: several ids, several changes, things by what they are called. */
import { beforeAll, expect, test } from 'vitest';
import { callTool, structured, textOf, withKey } from '../support/gateway.ts';
import { call } from '../support/http.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
  await run('write', { id: 'cairn://docs/skills/Ask', content: 'Ask first.\n' });
  await run('write', { id: 'cairn://docs/skills/Test', content: 'Test first.\n' });
  await run('write', { id: 'notes/plan.md', content: '# Plan\n\nOne.\n\nTwo.\n\nOne.\n' });
});

const run = async <T = Record<string, unknown>>(name: string, args: object) =>
  await structured<T>(hub, name, args, owner.mcp_key);
const words = async (name: string, args: object) => textOf(await callTool(hub, name, args, owner.mcp_key));
const refusal = async (name: string, args: object) =>
  (await callTool(hub, name, args, owner.mcp_key)).error?.message ?? '';

test('[FIND-3] read opens several things at once, or a category, and says which it could not read', async () => {
  const ids = ['notes/plan.md', 'notes/none.md', 'cairn://docs/skills/Ask'];
  const found = await run('read', { ids });
  expect(found).toMatchObject({
    id: 'notes/plan.md',
    more: [{ id: 'cairn://docs/skills/Ask', content: 'Ask first.\n' }],
    failed: [{ id: 'notes/none.md', says: expect.stringContaining('no file notes/none.md') }],
  });
  expect(await words('read', { ids })).toMatch(/# Plan[\s\S]*Ask first\.[\s\S]*not read: notes\/none\.md: no file/);
  for (const id of ['cairn://docs/skills/', 'cairn://docs/skills'])
    expect(await words('read', { id })).toMatch(/Test first\.[\s\S]*Ask first\.|Ask first\.[\s\S]*Test first\./);
  expect(await refusal('read', { id: 'cairn://docs/skils/' })).toContain('skils');
  expect(await refusal('read', { ids: ['notes/none.md'] })).toContain('no file notes/none.md');
  expect(await refusal('read', { ids, lines: '1' })).toContain('are for one id');
  for (const args of [{}, { id: 'notes/plan.md', ids }]) expect(await refusal('read', args)).toContain('id or ids');
});

test('[FIND-3] what has no room in one answer is named, and read by the next call', async () => {
  const ids = ['big/1.txt', 'big/2.txt', 'big/3.txt'];
  for (const id of ids) await run('write', { id, content: `${id}\n${'x'.repeat(50)}\n`.repeat(500) });
  const first = await run<{ id: string; more: unknown[]; unread: string[] }>('read', { ids });
  expect([first.id, first.more, first.unread.length]).toEqual(['big/1.txt', [], 2]);
  expect(await words('read', { ids })).toContain('read them next: ["big/2.txt","big/3.txt"]');
  expect(await run('read', { ids: first.unread })).toMatchObject({ id: 'big/2.txt', unread: ['big/3.txt'] });
});

test('[FIND-3] of a category with more than one call reads, the others are named', async () => {
  for (let at = 0; at < 22; at += 1) await run('write', { id: `cairn://docs/tips/Tip ${at}`, content: 'x\n' });
  const { more, unread } = await run<{ more: unknown[]; unread: string[] }>('read', { id: 'cairn://docs/tips/' });
  expect([more.length, unread]).toEqual([19, ['cairn://docs/tips/Tip%201', 'cairn://docs/tips/Tip%200']]);
});

test('[FIND-3] several replacements are made one after another, all of them or none', async () => {
  const id = 'notes/plan.md';
  const edits = [
    { old: 'One.', new: 'Eins.', all: true },
    { old: 'Eins.\n\nTwo.', new: 'Eins.\n\nZwei.' },
  ];
  expect(await run('edit', { id, edits })).toMatchObject({ changes: 3, line: 3, now: 'Eins.' });
  expect(await run('read', { id })).toMatchObject({ content: '# Plan\n\nEins.\n\nZwei.\n\nEins.\n' });
  const broken = {
    id,
    edits: [
      { old: 'Zwei.', new: 'Drei.' },
      { old: 'Four.', new: 'x' },
    ],
  };
  expect(await refusal('edit', broken)).toMatch(/^edits\[1\]: old is not in the text.*none of them was made$/s);
  expect(await words('read', { id })).toContain('Zwei.');
  expect(await refusal('edit', { id, edits, append: 'x' })).toContain('send one of');
});

test('[FIND-3] write publishes a paper, new or as it is, and makes it a draft again', async () => {
  const { id, version } = await run<{ id: string; version: number }>('write', {
    id: 'cairn://papers/new',
    content: '# On piers\n',
    published: true,
  });
  expect(await words('read', { id })).toContain('published paper');
  expect(await words('write', { id, published: false })).toContain('is updated, a draft');
  expect(await run('write', { id, published: false })).toMatchObject({ status: 'unchanged' });
  expect(await words('read', { id })).toContain('draft paper');
  expect(await refusal('write', { id, published: true, content: '# New\n' })).toContain('write with version');
  expect(await refusal('write', { id, published: true, content: '# New\n', version: version + 1 })).toContain(
    'version',
  );
  expect(await refusal('write', { id: 'notes/plan.md', published: true })).toBe('published is only for papers');
  expect(await refusal('write', { id: 'notes/new.md' })).toContain('content is required');
});

test('[FIND-3] how to connect another client is read like a document', async () => {
  expect(await words('list', {})).toContain('cairn://setup');
  const all = await words('read', { id: 'cairn://setup' });
  const one = await words('read', { id: 'cairn://setup/codex' });
  expect([one, all]).toEqual([
    expect.stringContaining(`codex mcp add cairn --url ${hub.url}/mcp`),
    expect.stringContaining(one),
  ]);
  expect(await refusal('read', { id: 'cairn://setup/coedx' })).toContain('codex');
});

test('[FIND-3] a task is changed by its text, when that names one', async () => {
  await run('add_tasks', {
    tasks: ['Paint door', 'Paint door frame', 'Oil hinge', 'Oil hinge'].map((content) => ({ content })),
  });
  const change = async (id: string) => await words('change_tasks', { tasks: [{ id, completed: true }] });
  const refused = async (id: string) => await refusal('change_tasks', { tasks: [{ id, completed: true }] });
  expect(await refused('oil')).toMatch(
    /several tasks have the text "oil": #\d Oil hinge; #\d Oil hinge; send a number/,
  );
  expect(await refused('Oil hinge')).toContain('several tasks');
  expect(await change('paint DOOR')).toMatch(/Paint door \(done/);
  expect(await change('frame')).toMatch(/Paint door frame \(done/);
  expect(await refused('Sweep')).toContain('no task has the text "Sweep"');
  expect(await change('#3')).toMatch(/Oil hinge \(done/);
  // Of two with one text, the open one is meant.
  expect(await change('Oil hinge')).toMatch(/#4 Oil hinge \(done/);
});

test('[FIND-3] the only conflict needs no name', async () => {
  expect(await refusal('settle_conflict', { keep: 'current' })).toContain('there is no pending conflict');
  const conflict = async (id: string) => {
    await run('write', { id, content: 'one\n' });
    await callTool(hub, 'sync_push', { path: id, content: 'two\n', base_sha: '0'.repeat(64) }, owner.mcp_key);
  };
  await conflict('a.md');
  await conflict('b.md');
  expect(await refusal('settle_conflict', { keep: 'current' })).toMatch(/several conflicts.*a\.md.*b\.md/);
  await run('settle_conflict', { id: 'a.md', keep: 'current' });
  expect(await words('settle_conflict', { keep: 'pushed' })).toContain('b.md is settled');
  expect(await run('read', { id: 'b.md' })).toMatchObject({ content: 'two\n' });
});

test('[DOC-2, HAND-2] the tools for programs and their REST mirror name the nearest document as well', async () => {
  await run('handoff_save', { project: 'harbour', topic: 'crane', content: 'Paint it.' });
  for (const [tool, args, meant] of [
    ['get_dev_doc', { title: 'Tst', category: 'skills' }, '"Test" in skills'],
    ['get_dev_doc', { title: 'Tst' }, '"Test" in skills'],
    ['handoff_get', { project: 'harbor', topic: 'crane' }, '"harbour", "crane"'],
    ['handoff_get', { project: 'harbour', topic: 'crain' }, '"harbour", "crane"'],
  ] as const) {
    expect(await refusal(tool, args)).toContain(`did you mean ${meant}`);
    const answer = await call(hub, `/api/mcp/tools/${tool}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...withKey(owner.mcp_key) },
      body: JSON.stringify(args),
    });
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('did you mean')]);
  }
});

test('[FIND-3] a folder that is called like a list is shown when there is nothing else, and told when there is', async () => {
  await run('write', { id: 'docs/guide.md', content: 'x\n' });
  expect(await words('list', { in: 'docs/' })).toContain('dev docs');
  expect(await words('list', { in: 'docs/' })).toMatch(
    /the folder of this name is "cairn:\/\/vaults\/v_[0-9a-f]+\/docs\/"/,
  );
  await run('write', { id: 'trash/old.md', content: 'x\n' });
  expect(await words('list', { in: 'trash' })).toContain('trash/old.md');
});
