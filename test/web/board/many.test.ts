/** Acts on many tasks at once, without script: what changes, what is left alone, and the undo. */
import { expect, test } from 'vitest';
import { PASSWORD, structured } from '../../support/gateway.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40, verified: true });
let count = 0;

async function member(tasks: number): Promise<{ readonly client: PageClient; readonly key: string }> {
  count += 1;
  const client = await signedUp(hub, `many${count}@example.org`, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  for (let id = 1; id <= tasks; id += 1) await structured(hub, 'create_task', { content: `Task ${id}` }, key);
  await client.open('/tasks');
  return { client, key };
}

async function act(client: PageClient, ids: readonly number[], fields: Record<string, string>): Promise<void> {
  const sent = client.fieldsOf('/tasks/many', { due: undefined, ...fields });
  for (const id of ids) sent.append('task', String(id));
  const { headers } = await client.post('/tasks/many', sent);
  await client.open(headers.location ?? '');
}

const undo = (client: PageClient) => client.submit('/tasks/many/undo');

async function stored(key: string): Promise<unknown[][]> {
  const { tasks } = (await structured(hub, 'list_tasks', { sort_by: 'created_at', sort_order: 'asc' }, key)) as {
    tasks: { id: number; kanban_status: string; category_id: number | null; due_date: string | null }[];
  };
  return tasks.map(({ id, kanban_status, category_id, due_date }) => [id, kanban_status, category_id, due_date]);
}

test('[WEB-25] many tasks are finished, and given back', async () => {
  const { client, key } = await member(3);
  await structured(hub, 'update_task', { id: 2, kanban_status: 'in_progress' }, key);
  await client.open('/tasks?important=&q=Task');
  await act(client, [1, 2], { act: 'done' });
  expect(client.text).toContain('2 tasks done.');
  expect(client.path).toContain('q=Task');
  expect((await stored(key)).map((task) => task.slice(0, 2))).toEqual([
    [1, 'done'],
    [2, 'done'],
    [3, 'todo'],
  ]);
  await undo(client);
  expect(client.text).toContain('Undone.');
  expect((await stored(key)).map((task) => task.slice(0, 2))).toEqual([
    [1, 'todo'],
    [2, 'in_progress'],
    [3, 'todo'],
  ]);
});

test('[WEB-25] column, category and due date change together, and the undo leaves alone what changed since', async () => {
  const { client, key } = await member(3);
  await structured(hub, 'create_category', { name: 'Home' }, key);
  await structured(hub, 'update_task', { id: 3, due_date: '2030-01-01' }, key);
  await client.open('/tasks');
  await act(client, [1, 2, 3], { act: 'apply', status: 'backlog', category: '1', on: '2031-02-03' });
  expect(client.text).toContain('3 tasks changed.');
  const changed = [1, 2, 3].map((id) => [id, 'backlog', 1, '2031-02-03']);
  expect(await stored(key)).toEqual(changed);
  await structured(hub, 'update_task', { id: 2, content: 'Changed since' }, key);
  await undo(client);
  expect(client.text).toContain('2 tasks undone. 1 task changed since, and left alone.');
  expect(await stored(key)).toEqual([[1, 'todo', null, null], changed[1], [3, 'todo', null, '2030-01-01']]);
});

test('[WEB-25] many tasks are deleted and restored; those deleted elsewhere and of others are left alone', async () => {
  const { client, key } = await member(3);
  const other = await member(5);
  await structured(hub, 'delete_task', { id: 3 }, key);
  await act(client, [1, 2, 3, 5], { act: 'delete' });
  expect(client.text).toContain('2 tasks moved to the trash');
  expect(client.text).toContain('2 tasks left alone');
  expect(await stored(key)).toEqual([]);
  expect((await stored(other.key)).length).toBe(5);
  await undo(client);
  expect((await stored(key)).map((task) => task.slice(0, 2))).toEqual([
    [1, 'todo'],
    [2, 'todo'],
  ]);
});

test('[WEB-25] without tasks, without a change, and with a forged undo, nothing happens and the page says what to do', async () => {
  const { client, key } = await member(2);
  const before = await stored(key);
  await act(client, [], { act: 'done' });
  expect(client.text).toContain('Select tasks first.');
  await act(client, [1], { act: 'apply' });
  expect(client.text).toContain('Choose a column, a category or a due date first.');
  for (const was of ['', '{', '[[1]]', '[[1,1,"nowhere",null,null]]']) {
    await client.open('/tasks');
    const fields = client.fieldsOf('/tasks/many', { was });
    expect((await client.post('/tasks/many/undo', fields)).status).toBe(303);
  }
  expect(await stored(key)).toEqual(before);
});

test('[WEB-9] order and groups are in the address, and every column follows them', async () => {
  const { client, key } = await member(3);
  await structured(hub, 'update_task', { id: 1, is_important: true, content: 'Zebra' }, key);
  await client.submit('/tasks/3/move', { place: 'top' });
  const order = () => [...client.html.matchAll(/data-task="(\d+)"/g)].map(([, id]) => Number(id));
  await client.open('/tasks');
  expect(order()).toEqual([3, 1, 2]);
  await client.open('/tasks?sort=newest');
  expect(order()).toEqual([3, 2, 1]);
  expect(client.html).not.toContain('Move up');
  await client.open('/tasks?sort=name');
  expect(order()).toEqual([2, 3, 1]);
  await client.open('/tasks?sort=name&group=important');
  expect(order()).toEqual([1, 2, 3]);
  expect(client.text).toMatch(/Important 1 .*Others 2/);
  const marked = await client.post('/tasks/2/mark', client.fieldsOf('/tasks/2/move', { important: 'true' }));
  expect(marked.headers.location).toBe('/tasks?sort=name&group=important&moved=2#task-2');
});
