/** What a model plainly means is done, or it hears what to send: ids in another form, one for several, another name. */
import { beforeAll, expect, test } from 'vitest';
import { callAsClient, structured, textOf } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
  await said('write', { id: 'cairn://docs/skills/deploy.md', content: '# Deploy\n\nSlowly.\n' });
  await said('write', { id: 'cairn://papers/new', content: '# My paper\n\nText.\n' });
  await said('write', { id: 'cairn://handoffs/cairn/release', content: 'Next: tag.' });
  await said('add_tasks', {
    tasks: [
      { content: 'Call the dentist about the crown', category: 'Health' },
      { content: 'Buy milk' },
      { content: 'Rest' },
    ],
  });
});

const said = async (name: string, args: object): Promise<string> =>
  textOf(await callAsClient(hub, { door: '/mcp', key: owner.mcp_key }, name, args));
const run = async <T>(name: string, args: object) => await structured<T>(hub, name, args, owner.mcp_key);

test.each([
  ['deploy.md', 'cairn://docs/skills/deploy.md'],
  ['deploy', 'cairn://docs/skills/deploy.md'],
  ['docs/skills/deploy.md', 'cairn://docs/skills/deploy.md'],
  ['papers/1', 'cairn://papers/1'],
  ['my paper', 'cairn://papers/1'],
  ['tasks/1', 'cairn://tasks/1'],
])('[FIND-3, TOOL-5] %s, which is no file, leads to %s in every tool that takes an id', async (path, id) => {
  for (const [name, args] of [
    ['read', { id: path }],
    ['edit', { id: path, append: 'x' }],
    ['history', { id: path }],
    ['restore', { id: path, version: 1 }],
    ['move', { id: path, to: 'elsewhere.md' }],
    ['remove', { ids: [path] }],
  ] as const) {
    expect(await said(name, args), name).toContain(`did you mean ${id}?`);
  }
});

test('[FIND-3] a file is found before what it may mean, and a path of nothing stays unknown', async () => {
  await said('write', { id: 'my paper', content: 'A file.' });
  expect(await said('read', { id: 'my paper' })).toContain('A file.');
  await said('remove', { ids: ['my paper'] });
  expect(await said('read', { id: 'handoffs/cairn/nothing' })).toContain('list and search show what is there');
});

test('[FIND-3] the first file of a folder that is called like a kind of documents says what it is', async () => {
  expect(await said('write', { id: 'docs/rules/new.md', content: 'x' })).toContain(
    'it would be cairn://docs/rules/new.md',
  );
  expect(await said('write', { id: 'docs/other/one.md', content: 'x' })).not.toContain('cairn://');
});

test('[FIND-3] the history of a folder leads to that of all, and an edit that deletes a line ends in no bare colon', async () => {
  await said('write', { id: 'notes/a.md', content: 'One.\nTwo.\n' });
  expect(await said('history', { id: 'notes/' })).toContain('without id, history lists all changes');
  expect(await said('edit', { id: 'notes/a.md', old: 'Two.', new: '' })).toMatch(/at line 2; version \d+$/);
});

test('[FIND-3] a task is named as lists show it', async () => {
  expect(await said('read', { id: '#1' })).toContain('Call the dentist');
  expect(await said('history', { id: '#1' })).toContain('created');
  expect(await said('remove', { ids: ['#3'] })).toContain('#3 is in the trash');
  expect(await said('restore', { id: '#3' })).toContain('#3 is back');
});

test('[TOOL-5] one thing is removed by id, several are restored by ids, and each says what became of it', async () => {
  await said('write', { id: 'one.md', content: '1' });
  await said('write', { id: 'two.md', content: '2' });
  expect(await said('remove', { id: 'one.md' })).toContain('1 removed');
  expect(await said('remove', { id: 'two.md', ids: ['#2'] })).toContain('2 removed');
  const { results } = await run<{ results: { id: string; done: boolean }[] }>('restore', {
    ids: ['one.md', 'two.md', '#2', 'none.md', 'one.md'],
  });
  expect(results.map(({ id, done }) => [id, done])).toEqual([
    ['one.md', true],
    ['two.md', true],
    ['#2', true],
    ['none.md', false],
  ]);
  expect(await said('restore', { ids: ['none.md'] })).toContain('path not found: none.md');
  expect(await said('restore', { ids: ['one.md', 'two.md'], since: '1h' })).toContain('ids is not for since');
});

test('[TOOL-5] one item stands for a list of one', async () => {
  expect(await said('add_tasks', { tasks: { content: 'Alone', status: 'backlog' } })).toContain('1 task added');
  expect(await said('change_tasks', { tasks: { id: 'Alone', completed: true } })).toContain('1 task changed');
  expect(await said('read', { ids: 'cairn://tasks/1' })).toContain('Call the dentist');
});

test('[TASK-5] tasks are listed by the name of a category, and by words in any order', async () => {
  const ids = async (args: object) =>
    (await run<{ tasks: { id: number }[] }>('list_tasks', args)).tasks.map(({ id }) => id);
  expect(await ids({ category: 'health' })).toEqual([1]);
  expect(await ids({ search: 'crown  DENTIST' })).toEqual([1]);
  expect(await ids({ search: 'crown milk' })).toEqual([]);
  expect(await said('list_tasks', { search: 'crwn dentist' })).toContain('the tool search also finds slips');
  expect(await said('list_tasks', { category: 'Helth' })).toContain('no category Helth; did you mean Health?');
  expect(await said('list_tasks', { category: 'Health', category_id: 1 })).toContain('send either');
});

test('[DOC-2] a dev doc is renamed and moved to another category with its versions, and it can be taken back', async () => {
  const id = 'cairn://docs/skills/deploy.md';
  await said('edit', { id, old: 'Slowly.', new: 'Fast.' });
  const moved = async (from: string, to: string) => await said('move', { id: from, to });
  expect(await moved(id, 'ship.yaml')).toContain('to cairn://docs/skills/ship.yaml');
  expect(await moved('cairn://docs/skills/ship.yaml', 'commands/')).toContain('to cairn://docs/commands/ship.yaml');
  expect(await moved('cairn://docs/commands/ship.yaml', 'cairn://docs/mine/Ship.md')).toContain('docs/mine/Ship.md');
  expect(await moved('cairn://docs/mine/Ship.md', 'ship.md')).toContain('to cairn://docs/mine/ship.md');
  const now = 'cairn://docs/mine/ship.md';
  expect(await said('read', { id: now })).toMatch(/markdown, version 2[\s\S]*Fast\./);
  expect(await said('read', { id: now, version: 1 })).toContain('Slowly.');
  expect(await said('read', { id })).toContain('nothing has this id');
  const { categories } = await run<{ categories: { name: string; docs: number }[] }>('list_dev_categories', {});
  expect(categories).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'mine' })]));
  expect(await said('list', { in: 'docs/skills' })).toContain('0 dev docs');

  await said('write', { id: 'cairn://docs/mine/taken.md', content: 'x' });
  expect(await moved(now, 'Taken.md')).toContain('mine already has a dev doc with this title');
  expect(await moved(now, 'cairn://papers/1')).toContain('to must be cairn://docs/{category}/{title}');
  expect(await moved(now, 'cairn://docs/plan.md')).toContain('to must be cairn://docs/{category}/{title}');
  expect(await moved(now, 'docs/')).toContain('to cairn://docs/docs/ship.md');
  expect(await moved('cairn://docs/docs/ship.md', 'docs/mine/')).toContain('to cairn://docs/mine/ship.md');
  expect(await moved('cairn://papers/1', 'x')).toContain('write with title');

  // Only the renames are taken back: the text was changed before them.
  const { changes } = await run<{ changes: { at: string; details: { fields?: string[] } }[] }>('history', {
    limit: 50,
  });
  const first = changes.findLast(({ details }) => details.fields?.includes('title'));
  expect(await said('restore', { id: now, since: first?.at ?? '' })).toContain('as it was before');
  expect(await said('read', { id: 'cairn://docs/skills/deploy.md' })).toContain('Fast.');
});
