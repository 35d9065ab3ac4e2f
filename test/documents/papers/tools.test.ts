/** Proves the tools over papers and categories, beside the REST resource over the same data. */
import { beforeEach, expect, test } from 'vitest';
import { accessToken, callTool, structured, textOf } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type Account, account } from '../../support/mirror.ts';
import { useHub } from '../../support/use-hub.ts';

interface Paper {
  readonly id: number;
  readonly title: string;
  readonly content?: string;
  readonly category_id: number | null;
  readonly published: boolean;
  readonly version: number;
}

const hub = useHub({ loudest: 40, verified: true });
let owner: Account;

beforeEach(async () => {
  owner = await account(hub);
});

const run = <T = { paper: Paper }>(name: string, args: object) => structured<T>(hub, name, args, owner.mcp_key);
const told = async (name: string, args: object) => textOf(await callTool(hub, name, args, owner.mcp_key));
type OneCategory = { category: { id: number; name: string; color: string | null; position: number } };
const errorOf = async (name: string, args: object) => (await callTool(hub, name, args, owner.mcp_key)).error;

test('[TASK-7] a paper is created, read, changed, published, deleted and restored by tools', async () => {
  const { paper } = await run('create_paper', { title: 'On cairns', content: '# On cairns\n' });
  expect(paper).toMatchObject({ title: 'On cairns', published: false, version: 1, category_id: null });
  expect(paper).not.toHaveProperty('content');
  const { id } = paper;
  expect((await run('get_paper', { id })).paper).toMatchObject({ ...paper, content: '# On cairns\n' });
  expect(await told('get_paper', { id })).toContain('# On cairns\n');
  const changed = await run('update_paper', { id, content: 'Stones.\n', expected_version: 1 });
  expect(changed.paper).toMatchObject({ version: 2, title: 'On cairns' });
  expect(await errorOf('update_paper', { id, content: 'late', expected_version: 1 })).toMatchObject({ code: -32006 });
  expect((await run('publish_paper', { id })).paper.published).toBe(true);
  expect((await run('publish_paper', { id, published: false })).paper.published).toBe(false);
  expect(await told('delete_paper', { id })).toContain('restore: true');
  expect(await errorOf('get_paper', { id })).toMatchObject({ code: -32005 });
  expect((await run('update_paper', { id, restore: true })).paper).toMatchObject({ id, version: 2 });
  expect((await run('get_paper', { id })).paper.content).toBe('Stones.\n');
});

test('[PAPER-1] earlier versions of the content of a paper are kept, and read by their number', async () => {
  const { id } = (await run('create_paper', { title: 'Kept', content: 'one' })).paper;
  await run('update_paper', { id, content: 'two' });
  await run('update_paper', { id, title: 'Kept longer' });
  expect((await run('get_paper', { id, version: 1 })).paper).toMatchObject({ content: 'one', version: 1 });
  expect((await run('get_paper', { id })).paper).toMatchObject({ content: 'two', version: 2 });
  expect(await told('get_paper', { id, version: 1 })).toContain('version 1 (now 2)');
  expect(await errorOf('get_paper', { id, version: 3 })).toMatchObject({ code: -32005 });
});

test('[TASK-7] papers are listed newest first, in pages, by filter, and with contents on request', async () => {
  for (let n = 1; n <= 5; n += 1) await run('create_paper', { title: `p${n}`, content: `text ${n}`, published: n > 3 });
  type List = { papers: Paper[]; count: number; has_more: boolean; cursor: string | null };
  const first = await run<List>('list_papers', { limit: 3 });
  expect(first).toMatchObject({ count: 3, has_more: true });
  expect(first.papers.map(({ title }) => title)).toEqual(['p5', 'p4', 'p3']);
  expect(await told('list_papers', { limit: 3 })).toContain(`cursor ${JSON.stringify(first.cursor)}`);
  const rest = await run<List>('list_papers', { limit: 3, cursor: first.cursor });
  expect([rest.papers.map(({ title }) => title), rest.cursor]).toEqual([['p2', 'p1'], null]);
  expect((await run<List>('list_papers', { published: true })).papers.map(({ title }) => title)).toEqual(['p5', 'p4']);
  const whole = await run<List>('list_papers', { include_content: true });
  expect(whole.papers.map(({ content }) => content)).toEqual(['text 5', 'text 4', 'text 3', 'text 2', 'text 1']);
  const text = await told('list_papers', { include_content: true });
  for (let n = 1; n <= 5; n += 1) expect(text).toContain(`text ${n}`);
  expect(await errorOf('list_papers', { cursor: 'x' })).toMatchObject({ code: -32602, data: { field: 'cursor' } });
});

test('[TASK-7] categories are created, changed and deleted by tools; tasks and papers then have none', async () => {
  const { category } = await run<OneCategory>('create_category', { name: 'Work', color: '#3366CC' });
  expect(category).toMatchObject({ name: 'Work', color: '#3366cc' });
  const { id } = category;
  expect(await errorOf('create_category', { name: 'work' })).toMatchObject({ code: -32602, data: { field: 'name' } });
  expect((await run<OneCategory>('update_category', { id, name: 'Home', color: null })).category).toMatchObject({
    id,
    name: 'Home',
    color: null,
  });
  const { task } = await run<{ task: { id: number } }>('create_task', { content: 'Sweep', category_id: id });
  const { paper } = await run('create_paper', { title: 'Sweeping', category_id: id });
  expect(await told('list_categories', {})).toContain(`#${id} Home (1 task, position 0)`);
  expect(await run('delete_category', { id })).toEqual({ id, status: 'deleted' });
  expect(await errorOf('delete_category', { id })).toMatchObject({ code: -32005 });
  expect((await run('get_paper', { id: paper.id })).paper.category_id).toBeNull();
  const { tasks } = await run<{ tasks: { id: number; category_id: number | null }[] }>('list_tasks', {});
  expect(tasks.find((one) => one.id === task.id)?.category_id).toBeNull();
});

test('[CAT-1, TASK-7] a deleted category comes back with its tasks and papers; not under a name that was taken since', async () => {
  const { category } = await run<OneCategory>('create_category', { name: 'Garden' });
  const { id } = category;
  const { task } = await run<{ task: { id: number } }>('create_task', { content: 'Weed', category_id: id });
  const { paper } = await run('create_paper', { title: 'Weeding', category_id: id });
  expect(await told('delete_category', { id })).toContain('update_category with restore: true brings it back');
  expect(await errorOf('update_category', { id, color: '#000000' })).toMatchObject({
    code: -32005,
    message: expect.stringContaining('it is in the trash; update_category with restore: true brings it back'),
  });
  expect(await told('list', { in: 'trash' })).toContain(`category ${id} Garden, deleted`);
  // A client that sends back all that it read, with the category that was shown.
  expect(await told('update_paper', { id: paper.id, category_id: null })).not.toContain('category');
  await run('create_category', { name: 'garden' });
  expect(await errorOf('update_category', { id, restore: true })).toMatchObject({ data: { field: 'name' } });
  const back = await run<OneCategory>('update_category', { id, restore: true, name: 'Old garden' });
  expect(back.category).toMatchObject({ id, name: 'Old garden', task_count: 1 });
  expect((await run('get_paper', { id: paper.id })).paper.category_id).toBe(id);
  const { tasks } = await run<{ tasks: { id: number; category_id: number | null }[] }>('list_tasks', {
    category_id: id,
  });
  expect(tasks.map((one) => one.id)).toEqual([task.id]);
  expect(await told('list', { in: 'trash' })).not.toContain('Garden');
});

test('[TASK-7, KEY-8] tools and REST show the same papers, and another account has none of them', async () => {
  const { paper } = await run('create_paper', { title: 'Shared', content: 'x' });
  const token = await accessToken(hub, owner.email);
  const rest = await call(hub, `/api/papers/${paper.id}`, { headers: { Authorization: `Bearer ${token}` } });
  expect(rest.json()).toEqual((await run('get_paper', { id: paper.id })).paper);
  const stranger = await account(hub);
  for (const [name, args] of [
    ['get_paper', {}],
    ['update_paper', { title: 'Mine' }],
    ['publish_paper', {}],
    ['delete_paper', {}],
  ] as const) {
    const answer = await callTool(hub, name, { id: paper.id, ...args }, stranger.mcp_key);
    const unknown = await callTool(hub, name, { id: 999_999, ...args }, stranger.mcp_key);
    expect([name, answer.error]).toEqual([name, unknown.error]);
  }
});
