/** A refusal at the door for models leads on by a tool which that door lists: most clients call no other. */
import { beforeAll, expect, test } from 'vitest';
import { callAsClient, callTool, listTools, structured, textOf, withKey } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
const DOOR = '/mcp';
let owner: Account;
/** Names of tools that the door does not list. */
let unlisted: RegExp;

beforeAll(async () => {
  owner = await account(hub);
  const namesAt = async (door: string) => (await listTools(hub, withKey(owner.mcp_key), door)).map(({ name }) => name);
  const listed = await namesAt(DOOR);
  const others = (await namesAt(`${DOOR}?toolsets=all`)).filter((name) => !listed.includes(name) && name.includes('_'));
  expect(others.length).toBeGreaterThan(20);
  unlisted = new RegExp(`\\b(${others.join('|')})\\b`);
  await run('write', { id: 'n.md', content: 'One.\n' });
  await run('write', { id: 'taken.md', content: 'Two.\n' });
  await run('write', { id: 'cairn://docs/docs/house.md', content: 'x' });
  await run('add_tasks', { tasks: [{ content: 'Pay rent' }, { content: 'Call Bob' }] });
  await run('change_tasks', { tasks: [{ id: 2, remove: true }] });
});

const run = (name: string, args: object) => callAsClient(hub, { door: DOOR, key: owner.mcp_key }, name, args);

const REFUSED: readonly (readonly [string, object, string])[] = [
  ['edit', { id: 'notes/none.md', append: 'x' }, 'write makes a new one'],
  ['edit', { id: 'm.md', append: 'x' }, 'did you mean n.md?; write makes a new one'],
  ['edit', { id: 'cairn://docs/rules/none.md', old: 'a', new: 'b' }, 'write makes a new one'],
  ['edit', { id: 'cairn://handoffs/cairn/none', append: 'x' }, 'write makes a new one'],
  [
    'write',
    { id: 'cairn://docs/plan.md', content: 'x' },
    'id must be one of cairn://docs/{category}/{title}, cairn://docs/{id}; search',
  ],
  ['read', { id: 'cairn://notes/plan.md' }, 'cairn://handoffs/{project}/{topic}'],
  ['add_tasks', { content: 'Buy milk' }, 'content is not a known field; send it in tasks: [{"content": …}]'],
  ['change_tasks', { id: 1, completed: true }, 'completed is not a known field; send it in tasks: [{"completed": …}]'],
  ['add_tasks', { tasks: ['Buy milk'] }, 'tasks.0 must be a JSON object, such as {"content":"Buy milk"}'],
  ['edit', { id: 'n.md', prepend: 'x' }, 'send the first line as old'],
  ['edit', { id: 'n.md', lines: '1-2', new: 'x' }, 'send the text of these lines as old'],
  ['write', { id: 'n.md', content: 'x', mode: 'append' }, 'edit with append adds to it'],
  ['move', { id: 'n.md', new_name: 'm.md' }, 'did you mean to?'],
  [
    'search',
    { query: 'rent', in: ['task', 'file'] },
    'in must be one of task, doc, handoff, paper, file, backup, not a list',
  ],
  ['search', { query: 'rent', kinds: ['task'] }, 'did you mean in?'],
  ['write', { id: 'n.md', content: 'x', overwrite: true }, 'to replace one, send its version as read shows it'],
  ['list', { in: '/', recursive: true }, 'glob lists the files of all folders'],
  ['list', { in: '/', pattern: '*.md' }, 'did you mean glob?'],
  ['read', { id: 'n.md', head: 5 }, 'did you mean lines?'],
  ['recall', { topic: 'database' }, 'did you mean query?'],
  ['read', { id: 'file:///n.md' }, 'not a URL, such as n.md'],
  ['read', { id: 'https://hub.example.org/docs/7' }, 'not a URL; search and list show ids'],
  [
    'edit',
    { id: 'https://hub.example.org/vaults/v_1/file?path=a%20b%2Fn.md', append: 'x' },
    'did you mean cairn://vaults/v_1/a%20b/n.md?',
  ],
  ['read', { id: 'cairn://docs/house.md' }, 'did you mean cairn://docs/docs/house.md?'],
  ['restore', { id: 'none.md', version: 3 }, 'list shows what is there'],
  ['restore', { id: 'n.md', version: 9 }, 'version 9 is not an available version of this path; history lists them'],
  ['move', { id: 'n.md', to: 'taken.md' }, 'choose another name, or remove that file first'],
  ['remove', { ids: ['cairn://vaults/primary/'] }, 'this is a whole vault; name its folders and files'],
  ['move', { id: 'cairn://vaults/primary/', to: 'old/' }, 'this is a whole vault; name its folders and files'],
  ['move', { id: 'cairn://tasks/1', to: 'old/' }, 'change_tasks with category or status moves a task'],
  ['change_tasks', { tasks: [{ id: 1, completed: true, version: 9 }] }, 'send it with version 1'],
  ['history', { id: 'none.md' }, 'list shows what is there'],
  ['history', { id: 'cairn://docs/99' }, 'list with in "docs" lists all'],
  ['read', { id: 'cairn://conflicts/c_1' }, 'list with in "conflicts" lists them'],
  ['settle_conflict', { id: 'cairn://conflicts/c_1', keep: 'both' }, 'list with in "conflicts" lists them'],
  ['read', { id: 'cairn://docs/rules/None' }, 'search finds ids'],
  ['read', { id: 'cairn://tasks/2' }, 'in the trash (restore brings it back)'],
  ['change_tasks', { tasks: [{ id: 2, completed: true }] }, 'it is in the trash; restore brings it back'],
  ['restore', { id: 'cairn://papers/9' }, 'list with in "papers" lists all'],
  ['write', { id: 'cairn://vaults/primry/a.md', content: 'x' }, 'no vault primry; did you mean primary?'],
  ['write', { id: 'cairn://vaults/zzz/a.md', content: 'x' }, 'list with in "vaults" shows them'],
  ['read', { id: 'n.md', lines: [1, 2] }, 'lines must be like "40", "40-80" or "40-"'],
  [
    'settle_conflict',
    { id: 'cairn://conflicts/c_1', text: '<<<<<<< a\nb\n=======\nc\n>>>>>>> d\n' },
    'conflict markers',
  ],
];

test.each(REFUSED)(
  '[TOOL-5, FIND-3] %s with %j is refused with a step that a model can take',
  async (name, args, step) => {
    const reply = await run(name, args);
    expect(reply).toMatchObject({ result: { isError: true } });
    expect(textOf(reply)).toContain(step);
    expect(textOf(reply)).not.toMatch(unlisted);
  },
);

test('[FIND-3] of many items, the refused ones are named as the caller named them, with the next step', async () => {
  const changed = textOf(
    await run('change_tasks', {
      tasks: [
        { id: 1, is_important: true },
        { id: 99, completed: true },
      ],
    }),
  );
  expect(changed).toContain('1 task changed, 1 not');
  expect(changed).toContain('not changed: #99: task not found; list_tasks lists all');
  const removed = textOf(await run('remove', { ids: ['cairn://docs/99', 'cairn://papers/99'] }));
  expect(removed).toContain('cairn://docs/99 dev doc not found; list with in "docs" lists all');
  expect(removed).not.toMatch(unlisted);
});

test('[TOOL-5] the items of a list are repaired as its arguments are', async () => {
  const added = await run('add_tasks', {
    tasks: '[{"content":"5","is_important":"true","due_date":null,"status":null}]',
  });
  // A text stays a text, whatever it looks like.
  expect(textOf(added)).toContain('#3 5 (important');
  expect(textOf(await run('change_tasks', { tasks: ['{"id":"3","completed":"TRUE"}'] }))).toContain(
    '#3 5 (important, done',
  );
  expect(textOf(await run('add_tasks', { tasks: [{ content: 'x', is_important: 'yes' }] }))).toContain(
    'tasks.0.is_important must be true or false',
  );
});

test('[FIND-3] a change puts a task into a category that is made for it, and a slip into none', async () => {
  const into = async (category: string) => textOf(await run('change_tasks', { tasks: [{ id: 1, category }] }));
  expect(await into('Work')).toContain('category Work');
  expect(await into('Wrk')).toContain('did you mean Work?');
  expect(await into('work')).toContain('category Work');
  expect(await into('')).not.toContain('category');
});

test('[TASK-4, TOOL-5] null takes a task or a paper out of its category, as it takes the due date', async () => {
  const task = { content: 'Sow', category: 'Garden', due_date: '2026-12-01' };
  expect(textOf(await run('add_tasks', { tasks: [task] }))).toContain('category Garden');
  const change = async (part: object) => textOf(await run('change_tasks', { tasks: [{ id: 'Sow', ...part }] }));
  expect(await change({ category: null })).toMatch(/Sow \(due 2026-12-01, version/);
  expect(await change({ category: 'Garden', due_date: null })).toMatch(/Sow \(category Garden, version/);
  expect(await change({ due_date: '2026-12-01', completed: null })).toContain('due 2026-12-01');
  expect(await change({ completed: null })).toContain('category ("" for none)');

  const { id } = await structured<{ id: string }>(
    hub,
    'write',
    { id: 'cairn://papers/new', content: '# Beds', category: 'Garden' },
    owner.mcp_key,
  );
  const category = async () =>
    (await structured<{ paper: { category_id: number | null } }>(hub, 'get_paper', { id: lastOf(id) }, owner.mcp_key))
      .paper.category_id;
  expect(await category()).toEqual(expect.any(Number));
  expect(textOf(await run('write', { id, category: null }))).toContain('is updated');
  expect(await category()).toBeNull();
  expect(textOf(await run('write', { id: 'of-no-kind.md', content: 'x', category: null }))).toContain('is created');
});

const lastOf = (id: string): number => Number(id.split('/').at(-1));

test('[TOOL-5] where a program sends null for every argument left out, null clears nothing and an empty text does', async () => {
  const unset = {
    content: null,
    due_date: null,
    is_important: null,
    completed: null,
    category: null,
    status: null,
    remove: null,
    version: null,
  };
  const task = { content: 'Harvest', category: 'Garden', due_date: '2026-12-01' };
  await run('add_tasks', { tasks: [task] });
  const change = async (part: object) =>
    textOf(await run('change_tasks', { tasks: [{ ...unset, id: 'Harvest', ...part }] }));
  expect(await change({ is_important: true })).toMatch(/Harvest \(due 2026-12-01, important, category Garden, version/);
  expect(await change({ due_date: '' })).toMatch(/Harvest \(important, category Garden, version/);
  expect(await change({ category: '' })).toMatch(/Harvest \(important, version/);
});

test('[TOOL-5] what file tools elsewhere call the root is listed, and a list of one kind is that kind', async () => {
  const root = textOf(await run('list', { in: '/' }));
  expect(root).toContain('n.md');
  for (const place of ['.', './']) expect(textOf(await run('list', { in: place }))).toBe(root);
  const found = await structured<{ results: unknown[] }>(hub, 'search', { query: 'rent', in: ['task'] }, owner.mcp_key);
  expect(found.results).toHaveLength(1);
});

test('[SYN-14] whoever reads a file hears of the change of it that waits to be settled', async () => {
  await run('write', { id: 'fight.md', content: 'one\n' });
  const pushed = { path: 'fight.md', content: 'two\n', base_sha: '0'.repeat(64) };
  await callTool(hub, 'sync_push', pushed, owner.mcp_key);
  const told = /; (1 pending conflict: read cairn:\/\/conflicts\/c_[0-9a-f]+, then settle_conflict)\)/;
  const [, note] = told.exec(textOf(await run('read', { id: 'fight.md' }))) ?? [];
  expect(await structured(hub, 'read', { id: 'fight.md' }, owner.mcp_key)).toMatchObject({ note });
  await run('settle_conflict', { id: 'fight.md', keep: 'current' });
  expect(textOf(await run('read', { id: 'fight.md' }))).not.toContain('conflict');
});

test('[FIND-4] a search that finds nothing says what to try', async () => {
  const note = async (args: object) =>
    (await structured<{ note?: string }>(hub, 'search', args, owner.mcp_key)).note ?? '';
  expect(await note({ query: 'zzqqx' })).toContain('try other words');
  expect(await note({ query: 'rent zzqqx' })).toContain('Nothing has “zzqqx”');
  expect(await note({ query: 'rent fight' })).toContain('put OR between them');
  expect(await note({ query: 'rent', in: 'paper' })).toContain('nothing among the papers, but 1 elsewhere');
  expect(await note({ query: 'rent' })).toBe('');
});
