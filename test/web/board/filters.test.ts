/** The board narrowed by its address, ordered by hand, undone act by act; categories and the trash. Without script. */
import { expect, test } from 'vitest';
import { PASSWORD, structured } from '../../support/gateway.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40, verified: true });
let count = 0;

async function member(...contents: readonly string[]): Promise<{ readonly client: PageClient; readonly key: string }> {
  count += 1;
  const client = await signedUp(hub, `filters${count}@example.org`, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  for (const content of contents) await structured(hub, 'create_task', { content }, key);
  await client.open('/tasks');
  return { client, key };
}

/** The ids of a column's cards, in order. */
function cards({ html }: PageClient, status: string): number[] {
  const [, body = ''] = new RegExp(`data-column="${status}">([\\s\\S]*?)</section>`).exec(html) ?? [];
  return [...body.matchAll(/data-task="(\d+)"/g)].map(([, id]) => Number(id));
}

const DAY_MS = 86_400_000;
const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

test('[WEB-9] filters combine, stay in the address, and every act leads back to the same view', async () => {
  const { client, key } = await member('Water the plants', 'Call the BANK', 'Bank holiday', 'Tidy up');
  await structured(hub, 'update_task', { id: 2, is_important: true, due_date: day(-2) }, key);
  await structured(hub, 'update_task', { id: 3, is_important: true, due_date: day(3) }, key);
  await structured(hub, 'update_task', { id: 4, due_date: day(0) }, key);
  const shown = async (query: string) => {
    await client.open(`/tasks?${query}`);
    return cards(client, 'todo');
  };
  expect(await shown('q=bank')).toEqual([2, 3]);
  expect(await shown('important=true')).toEqual([2, 3]);
  expect(await shown('due=overdue')).toEqual([2]);
  expect(await shown('due=today')).toEqual([4]);
  expect(await shown('due=week')).toEqual([4, 3]);
  expect(await shown('due=nonsense&category=999&tab=x')).toEqual([2, 4, 3, 1]);
  expect(await shown('q=bank&due=week&important=true')).toEqual([3]);
  const fields = client.fieldsOf('/tasks/3/move', { status: 'in_progress' });
  const moved = await client.post('/tasks/3/move', fields);
  expect(moved.headers.location).toBe('/tasks?q=bank&due=week&important=true&moved=3#task-3');
  fields.set('back', 'https://evil.example/tasks');
  expect((await client.post('/tasks/3/move', fields)).headers.location).toBe('/tasks?moved=3#task-3');
});

test('[WEB-9] a column is ordered by hand: up, down, to the top, before another, and each is undone', async () => {
  const { client, key } = await member('1', '2', '3', '4');
  const place = async (id: number, fields: Record<string, string>) => {
    await client.submit(`/tasks/${id}/move`, fields);
    return cards(client, 'todo');
  };
  expect(cards(client, 'todo')).toEqual([1, 2, 3, 4]);
  expect(await place(3, { place: 'up' })).toEqual([1, 3, 2, 4]);
  expect(await place(1, { place: 'down' })).toEqual([3, 1, 2, 4]);
  expect(await place(4, { place: 'top' })).toEqual([4, 3, 1, 2]);
  expect(await place(4, { before: '' })).toEqual([3, 1, 2, 4]);
  expect(await place(2, { before: '3' })).toEqual([2, 3, 1, 4]);
  await client.submit('/tasks/2/move', lastForm(client, '/tasks/2/move'));
  expect(cards(client, 'todo')).toEqual([3, 1, 2, 4]);
  // What nobody has placed stands below, what is due first above the rest.
  await structured(hub, 'create_task', { content: '5', due_date: '2020-01-01' }, key);
  await client.open('/tasks');
  expect(cards(client, 'todo')).toEqual([3, 1, 2, 4, 5]);
  // Into the middle of another column, in one act.
  await client.submit('/tasks/1/move', { status: 'in_progress' });
  await client.submit('/tasks/4/move', { status: 'in_progress', before: '1' });
  expect(cards(client, 'in_progress')).toEqual([4, 1]);
  expect(cards(client, 'todo')).toEqual([3, 2, 5]);
});

test('[WEB-9] every act on a task is undone by the notice that tells of it', async () => {
  const { client } = await member();
  const undo = async (action: string) => {
    await client.submit(action, lastForm(client, action));
    expect(client.text).toContain('Undone.');
  };
  await client.submit('/tasks', { content: 'First words', due_date: '2030-01-31' });
  await undo('/tasks/1/delete');
  expect(cards(client, 'todo')).toEqual([]);
  await client.submit('/tasks', { content: 'Second words', due_date: '2030-01-31', is_important: 'true' });
  await client.submit('/tasks/2/move', { status: 'done' });
  await undo('/tasks/2/move');
  expect(cards(client, 'todo')).toEqual([2]);
  const mark = new URLSearchParams(client.fieldsOf('/tasks/2/move', { important: 'false' }));
  await client.post('/tasks/2/mark', mark);
  await client.open('/tasks');
  expect(client.text).toContain('No longer marked important.');
  await undo('/tasks/2/mark');
  await client.open('/tasks/2');
  await client.submit('/tasks/2', { content: 'Other words', due_date: '', is_important: undefined });
  await undo('/tasks/2');
  await client.open('/tasks/2');
  expect(Object.fromEntries(client.fieldsOf('/tasks/2'))).toMatchObject({
    content: 'Second words',
    due_date: '2030-01-31',
    is_important: 'true',
  });
});

test('[WEB-9] an edit that somebody else has built on is not undone unseen', async () => {
  const { client, key } = await member('First words');
  await client.open('/tasks/1');
  await client.submit('/tasks/1', { content: 'Other words' });
  const fields = lastForm(client, '/tasks/1');
  await structured(hub, 'update_task', { id: 1, content: 'By an agent' }, key);
  await client.submit('/tasks/1', fields);
  expect([client.answer?.status, client.text]).toEqual([422, expect.stringContaining('changed elsewhere')]);
});

test('[WEB-9] done tasks are newest first, and the older ones folded away', async () => {
  const { client, key } = await member('1', '2', '3', '4', '5');
  for (const id of [3, 1, 5, 2, 4]) await structured(hub, 'update_task', { id, kanban_status: 'done' }, key);
  await client.open('/tasks');
  expect(cards(client, 'done')).toEqual([4, 2, 5, 1, 3]);
  expect(client.html).toMatch(/<details class="folded"[^>]*><summary>2 more/);
});

test('[WEB-9] categories are created, coloured, renamed, deleted and restored on a page of their own', async () => {
  const { client, key } = await member('Weed');
  await client.open('/tasks/categories');
  await client.submit('/tasks/categories', { name: 'Garden', color: '#00AA44' });
  expect(client.html).toContain('fill="#00aa44"');
  await client.submit('/tasks/categories', { name: 'garden' });
  expect([client.answer?.status, client.text]).toEqual([422, expect.stringContaining('already has a category')]);
  await client.open('/tasks/categories');
  await client.submit('/tasks/categories/1', { name: 'Yard', has_color: undefined });
  expect(client.html).not.toContain('fill="#00aa44"');
  await client.submit('/tasks/categories/1', lastForm(client, '/tasks/categories/1'));
  expect(client.html).toContain('fill="#00aa44"');
  await structured(hub, 'update_task', { id: 1, category_id: 1 }, key);
  await client.submit('/tasks/categories/1/delete');
  expect(client.text).toContain('No categories yet');
  expect(client.text).toContain('Category deleted.');
  await client.submit('/tasks/categories/1/restore');
  expect(client.text).toContain('Category restored.');
  await client.open('/tasks?category=1');
  expect(cards(client, 'todo')).toEqual([1]);
  // Its name was taken while it was in the trash: the page says by which, and the two are both kept.
  await client.open('/tasks/categories');
  await client.submit('/tasks/categories/1/delete');
  await client.submit('/tasks/categories', { name: 'GARDEN' });
  expect((await client.submit('/tasks/categories/1/restore')).status).toBe(422);
  expect(client.text).toContain('Category #2 has this name now; rename that one first');
  await client.submit('/tasks/categories/2', { name: 'New yard' });
  // Deleted by an agent while its form was open: the page leads to where categories are restored.
  await structured(hub, 'delete_category', { id: 2 }, key);
  expect((await client.submit('/tasks/categories/2', { name: 'Late' })).status).toBe(404);
  expect(client.html).toContain('It is in the <a href="/tasks/categories#deleted-categories">trash</a>');
  await client.open('/tasks/categories');
  await client.submit('/tasks/categories/1/restore');
  expect(client.text).toContain('Category restored.');
  const other = await member();
  await other.client.open('/tasks/categories');
  expect((await other.client.post('/tasks/categories/1', other.client.fieldsOf('/tasks/categories'))).status).toBe(404);
});

test('[WEB-9, TASK-6] the trash lists what was deleted by anybody, newest first, and restores it', async () => {
  const { client, key } = await member('One', 'Two "deleted_at":"', 'Three');
  for (const id of [3, 1]) await structured(hub, 'delete_task', { id }, key);
  await client.open('/tasks/trash');
  expect([...client.html.matchAll(/id="task-(\d+)"/g)].map(([, id]) => Number(id))).toEqual([1, 3]);
  await client.submit('/tasks/3/restore');
  expect([client.path, client.text]).toEqual(['/tasks/trash#task-3', expect.stringContaining('Task restored.')]);
  await client.open('/tasks');
  expect(cards(client, 'todo')).toEqual([2, 3]);
});

/** The fields of the form of the notice: the first one of its action that says it undoes. */
function lastForm(client: PageClient, action: string): Record<string, string> {
  const form = client.forms.find((one) => one.action === action && one.fields.get('undo') === 'true');
  if (form === undefined) throw new Error(`no form undoes ${action}`);
  return Object.fromEntries(form.fields);
}
