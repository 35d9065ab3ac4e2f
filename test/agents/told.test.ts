/** What answers of the tools for models tell: so that nobody is misled by one, and what only reads leaves nothing behind. */
import { beforeAll, expect, test } from 'vitest';
import { callTool, structured, textOf } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();
let owner: Account;

beforeAll(async () => {
  owner = await account(hub);
});

const run = async <T = Record<string, unknown>>(name: string, args: object) =>
  await structured<T>(hub, name, args, owner.mcp_key);
const words = async (name: string, args: object) => textOf(await callTool(hub, name, args, owner.mcp_key));
const refusal = async (name: string, args: object) =>
  (await callTool(hub, name, args, owner.mcp_key)).error?.message ?? '';

test('[FIND-3] the trash is listed in pages, and says how much there is', async () => {
  const { mcp_key: key } = await account(hub);
  const call = async <T>(name: string, args: object) => await structured<T>(hub, name, args, key);
  const made = Array.from({ length: 5 }, (_, at) => ({ content: `leaf ${at}` }));
  const { tasks } = await call<{ tasks: { id: number }[] }>('add_tasks', { tasks: made });
  await call('remove', { ids: tasks.map(({ id }) => `cairn://tasks/${id}`) });
  await call('write', { id: 'cairn://docs/rules/Leaf', content: 'x' });
  await call('remove', { ids: ['cairn://docs/rules/Leaf'] });
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const more = cursor === undefined ? {} : { cursor };
    const page = textOf(await callTool(hub, 'list', { in: 'trash', limit: 4, ...more }, key));
    expect(page).toContain('6 records in the trash');
    const found = await call<{ items: { id: string }[]; cursor: string | null }>('list', {
      in: 'trash',
      limit: 4,
      ...more,
    });
    seen.push(...found.items.map(({ id }) => id));
    cursor = found.cursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen.toSorted()).toEqual(
    ['cairn://docs/rules/Leaf', ...tasks.map(({ id }) => `cairn://tasks/${id}`)].toSorted(),
  );
  const wrong = await callTool(hub, 'list', { in: 'trash', cursor: 'x' }, key);
  expect(wrong.error?.message).toContain('cursor must come from an earlier answer');
});

test('[FIND-3] the trash has the files of vaults that were deleted and are not back, each with the id that restores it', async () => {
  const { mcp_key: key } = await account(hub);
  const call = async <T>(name: string, args: object) => await structured<T>(hub, name, args, key);
  const listed = async () => (await call<{ items: { id: string; about: string }[] }>('list', { in: 'trash' })).items;
  await call('vault_create', { name: 'Garden' });
  const garden = (await call<{ vaults: { name: string; vault_id: string }[] }>('vault_list', {})).vaults[0]?.vault_id;
  for (const id of ['a/one.md', 'a/two.md', 'kept.md', 'moved.md', 'again.md', `cairn://vaults/${garden}/rose.md`])
    await call('write', { id, content: `text of ${id}` });
  await call('move', { id: 'moved.md', to: 'b/moved.md' });
  await call('remove', { ids: ['a/', 'again.md', `cairn://vaults/${garden}/rose.md`] });
  await call('restore', { id: 'again.md' });
  const items = await listed();
  // What was moved, or brought back, is not in it. The last one deleted is the first.
  expect(items.map(({ id }) => id)).toEqual([`cairn://vaults/${garden}/rose.md`, 'a/two.md', 'a/one.md']);
  expect(items[1]?.about).toMatch(/^deleted 20\S+Z by \S/);
  expect(textOf(await callTool(hub, 'list', { in: 'trash' }, key))).toContain('3 deleted files');
  for (const { id } of items) await call('restore', { id });
  expect(await listed()).toEqual([]);
  expect(await call('read', { id: 'a/one.md' })).toMatchObject({ content: 'text of a/one.md' });
});

test('[FIND-3] an answer says what went with a section, what a category is called by number, and what changes nothing', async () => {
  await run('write', { id: 'parts.md', content: '# All\n\nIntro.\n\n## One\n\n1\n' });
  const edit = { id: 'parts.md', section: 'All', text: 'New intro.' };
  expect(await run('edit', edit)).toMatchObject({ gone: ['## One'] });
  expect(await words('edit', { ...edit, text: 'Newer.' })).not.toContain('went with');
  const { tasks } = await run<{ tasks: { id: number; category_id: number }[] }>('add_tasks', {
    tasks: [{ content: 'Oil the crane', category: 'Cranes' }],
  });
  expect(await words('list', { in: 'categories' })).toContain(`Cranes category_id ${tasks[0]?.category_id}, 1 task`);
  expect(await refusal('change_tasks', { tasks: [{ id: tasks[0]?.id }] })).toContain(
    'say what to change: content, due_date',
  );
  // Null is how many clients write what they leave out: what takes a task out of its category is said.
  const out = await refusal('change_tasks', { tasks: [{ id: tasks[0]?.id, completed: null }] });
  expect(out).toContain('category ("" for none)');
  await run('change_tasks', { tasks: [{ id: tasks[0]?.id, category: '' }] });
  expect(await run('list_tasks', { search: 'Oil the crane' })).toMatchObject({ tasks: [{ category_id: null }] });
  expect(await refusal('move', { id: 'parts.md', to: 'parts.md' })).toContain('to is where parts.md is already');
  await run('write', { id: 'still/a.md', content: 'a' });
  expect(await refusal('move', { id: 'still/', to: 'still/' })).toContain('to is where still is already');
});

test('[CAT-1] a category whose name was taken while it was in the trash comes back with another name, or says which one has it', async () => {
  const { category: first } = await run<{ category: { id: number } }>('create_category', { name: 'Rigging' });
  await run('delete_category', { id: first.id });
  const { category: second } = await run<{ category: { id: number } }>('create_category', { name: 'rigging' });
  const back = { id: first.id, restore: true };
  const taken = `category #${second.id} has this name now; rename that one first, or restore this one with another name`;
  expect(await refusal('update_category', back)).toContain(taken);
  expect(await refusal('update_category', { ...back, name: 'RIGGING' })).toContain(taken);
  expect(await run('update_category', { ...back, name: 'Old rigging' })).toMatchObject({ category: { id: first.id } });
});

test('[FIND-3] a name with a percent sign is a name', async () => {
  expect(await refusal('list', { in: 'docs/100%' })).toContain('100%');
  expect(await words('list', { in: 'handoffs/100%' })).toContain('0 handoffs');
});

test('[FIND-3] what only reads makes no vault, and says where a file may be; the first write makes the primary one', async () => {
  const { mcp_key: key } = await account(hub);
  const call = async <T>(name: string, args: object) => await structured<T>(hub, name, args, key);
  const says = async (name: string, args: object) => (await callTool(hub, name, args, key)).error?.message;
  const vaults = async () =>
    (await call<{ vaults: { name: string }[] }>('vault_list', {})).vaults.map(({ name }) => name);
  const none = 'there is no primary vault yet, where paths without a vault go; the first write makes it';
  expect(await says('read', { id: 'todo.md' })).toContain(none);
  const { vault_id: garden } = await call<{ vault_id: string }>('vault_create', { name: 'Garden' });
  for (const [name, args] of [
    ['read', { id: 'todo.md' }],
    ['read', { ids: ['todo.md', 'plan.md'] }],
    ['list', { in: 'notes/' }],
    ['list', { glob: '*.md' }],
    ['edit', { id: 'todo.md', append: 'x' }],
    ['write', { id: 'todo.md', content: 'x', version: 3 }],
    ['history', { id: 'todo.md' }],
    ['move', { id: 'todo.md', to: 'done.md' }],
    ['remove', { ids: ['todo.md'] }],
    ['remove', { ids: ['notes/'] }],
    ['restore', { id: 'todo.md' }],
    ['restore', { id: 'notes/', at: '2026-11-20T00:00:00Z', dry_run: true }],
    ['settle_conflict', { id: 'todo.md', keep: 'current' }],
  ] as const)
    expect([name, await says(name, args), await vaults()]).toEqual([name, expect.any(String), ['Garden']]);
  expect(await says('read', { id: 'todo.md' })).toContain(`name one: cairn://vaults/${garden}/ (Garden)`);
  expect(await says('read', { id: 'garden/todo.md' })).toContain(`did you mean cairn://vaults/${garden}/todo.md?`);
  expect(await call('write', { id: 'todo.md', content: 'x' })).toMatchObject({ status: 'created' });
  expect((await vaults()).toSorted()).toEqual(['Garden', 'primary']);
});
