/** What a tool sets when it creates something, a tool changes later; else this table says why not. */
import { beforeAll, expect, test } from 'vitest';
import { callTool, GATEWAY, type ListedTool, listTools, structured, withKey } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const NAMED = 'it names the thing: write it under the new name, and remove the old one';

/** What creates, what changes, and the arguments that no change takes, each with the reason. */
const PAIRS: readonly (readonly [creates: string, changes: string, fixed: Readonly<Record<string, string>>])[] = [
  ['create_task', 'update_task', {}],
  ['add_tasks', 'change_tasks', {}],
  ['create_category', 'update_category', {}],
  [
    'create_dev_doc',
    'update_dev_doc',
    { title: NAMED, category: NAMED, create_category: 'it says how to create, and is no field' },
  ],
  ['create_paper', 'update_paper', {}],
  ['write', 'write', {}],
  ['handoff_save', 'handoff_save', { project: NAMED, topic: NAMED, date: NAMED, time: NAMED }],
  ['vault_create', 'vault_rename', { protected_paths: 'vault_create with the name of a vault replaces its list' }],
  ['remember', 'remember', {}],
];

/** Names of the arguments, of each item for a tool that takes several. */
function argumentsOf(tool: ListedTool | undefined): string[] {
  const { properties = {} } = (tool?.inputSchema ?? {}) as {
    properties?: Record<string, { items?: { properties?: object } }>;
  };
  const { idempotency_key: _, ...own } = properties;
  return Object.keys(own['tasks']?.items?.properties ?? own);
}

test('[TASK-7] every field that a tool sets when it creates is changed by another, or the table says why not', async () => {
  const tools = await listTools(hub, withKey(owner.mcp_key), `${GATEWAY}?toolsets=all`);
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  // What creates is in the table, or is no record of the account that has fields.
  const others = ['signup_and_get_key', 'vault_clone'];
  const creating = tools.map(({ name }) => name).filter((name) => /^(create|add)_|_create$|_clone$|^signup/.test(name));
  expect(creating.filter((name) => !others.includes(name) && !PAIRS.some(([creates]) => creates === name))).toEqual([]);
  for (const [creates, changes, fixed] of PAIRS) {
    const [sets, changed] = [argumentsOf(named.get(creates)), argumentsOf(named.get(changes))];
    expect([creates, sets.length > 0, changed.length > 0]).toEqual([creates, true, true]);
    // A dev doc is named by its title and category, which update_dev_doc takes as that.
    const isMissing = (name: string) => !changed.includes(name) && !(name in fixed);
    expect([creates, sets.filter(isMissing)]).toEqual([creates, []]);
  }
});

const run = <T = Record<string, unknown>>(name: string, args: object) => structured<T>(hub, name, args, owner.mcp_key);

test('[FIND-3] a model changes the title and the category of a paper, which it names as those of tasks', async () => {
  const { id } = await run<{ id: string }>('write', {
    id: 'cairn://papers/new',
    content: '# One\n',
    category: 'Essays',
  });
  const paper = async () =>
    (await run<{ paper: Record<string, unknown> }>('get_paper', { id: Number(id.split('/').at(-1)) })).paper;
  const { categories } = await run<{ categories: { id: number; name: string }[] }>('list_categories', {});
  expect(categories.map(({ name }) => name)).toEqual(['Essays']);
  expect(await paper()).toMatchObject({ title: 'One', category_id: categories[0]?.id, published: false });
  expect(await run('write', { id, title: 'Two', category: 'Drafts' })).toMatchObject({ status: 'updated' });
  expect(await paper()).toMatchObject({ title: 'Two', content: '# One\n' });
  expect(await run('write', { id, title: 'Two' })).toMatchObject({ status: 'unchanged' });
  await run('write', { id, category: '', published: true });
  expect(await paper()).toMatchObject({ title: 'Two', category_id: null, published: true });
});

test('[TASK-7] the type of a dev doc is changed, and its lists follow', async () => {
  const { doc } = await run<{ doc: { id: number; content_type: string } }>('create_dev_doc', {
    title: 'a.md',
    content: '{}',
  });
  expect(doc.content_type).toBe('markdown');
  await run('update_dev_doc', { id: doc.id, content_type: 'json' });
  const count = async (type: string) => (await run<{ count: number }>('list_dev_docs', { content_type: type })).count;
  expect([await count('json'), await count('markdown')]).toEqual([1, 0]);
});

test('[DOC-2] update_dev_doc gives a dev doc another title and category, with a new text and out of the trash too', async () => {
  const { doc } = await run<{ doc: { id: number } }>('create_dev_doc', { title: 'plan.md', content: 'One.\n' });
  const update = async (change: object) =>
    (await run<{ doc: object }>('update_dev_doc', { id: doc.id, ...change })).doc;
  expect(await update({ new_title: 'roadmap.yaml' })).toMatchObject({
    title: 'roadmap.yaml',
    content_type: 'yaml',
    version: 1,
  });
  const both = { new_title: 'Roadmap.md', new_category: 'mine', content: 'Two.\n', mode: 'append' };
  expect(await update(both)).toMatchObject({
    title: 'Roadmap.md',
    category: 'mine',
    content_type: 'markdown',
    version: 2,
  });
  expect(await run('get_dev_doc', { title: 'roadmap.md' })).toMatchObject({ doc: { content: 'One.\nTwo.\n' } });
  await run('delete_dev_doc', { id: doc.id });
  await run('create_dev_doc', { title: 'roadmap.md', category: 'mine', create_category: true, content: 'Another.' });
  const { error } = await callTool(hub, 'update_dev_doc', { id: doc.id, restore: true }, owner.mcp_key);
  expect(error?.message).toContain('restore it with a new_title');
  expect(await update({ restore: true, new_title: 'old.md' })).toMatchObject({
    title: 'old.md',
    category: 'mine',
    version: 2,
  });
  const taken = await callTool(hub, 'update_dev_doc', { id: doc.id, new_title: 'ROADMAP.md' }, owner.mcp_key);
  expect(taken.error).toMatchObject({ data: { field: 'new_title' } });
});
