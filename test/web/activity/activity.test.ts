/** Activity: sessions of agents, devices and people, their differences, and the undo of a change and of a session. */
import { beforeAll, expect, test } from 'vitest';
import { PASSWORD, structured } from '../../support/gateway.ts';
import { FIREFOX, PageClient, type PageForm, signedUp } from '../../support/page-client.ts';
import { Device } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
let client: PageClient;
let key: string;
let laptop: Device;

beforeAll(async () => {
  client = await signedUp(hub, 'activity@example.org', PASSWORD);
  key = /[0-9a-f]{64}/.exec(client.text)?.[0] ?? '';
  laptop = new Device(hub, key, 'laptop');
});

const tool = <T = Record<string, unknown>>(name: string, args: object) => structured<T>(hub, name, args, key);

/** The sessions of a page as text, newest first. */
async function sessions(path = '/activity'): Promise<string[]> {
  await client.open(path);
  return client.html
    .split('<article ')
    .slice(1)
    .map((html) => plain(html.split('</article>')[0] ?? ''));
}

const plain = (html: string) =>
  `<${html}`
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const contentOf = async (path: string) => {
  const found = await laptop.result<{ files: { content?: string }[] }>('sync_pull', { paths: [path] });
  return found.files[0]?.content;
};

/** Undoes the whole newest session of somebody. */
async function undoSession(by: string): Promise<void> {
  await client.open(`/activity?by=${encodeURIComponent(by)}`);
  await send(client.forms.find(({ html }) => html.includes('Undo this session')));
}

async function send(form: PageForm | undefined): Promise<void> {
  if (form === undefined) throw new Error(`no such form on ${client.path}: ${client.text}`);
  await client.sendForm(form);
}

/** The undo of the first change on the page whose row says this. */
function undoOf(...words: string[]): PageForm | undefined {
  const rows = client.html.split('<li class="row entry"').slice(1);
  const at = rows.findIndex((row) => words.every((word) => plain(row).includes(word)));
  const number = /name="number" value="(\d+)"/.exec(rows[at] ?? '')?.[1];
  return client.forms.find(({ fields }) => number !== undefined && fields.get('number') === number);
}

test('[WEB-23, ACT-1] what an agent and a device did is a session each, with counts, deletions and differences', async () => {
  const { task } = await tool<{ task: { id: number; changed_by: string } }>('create_task', {
    content: 'Water the plants',
  });
  await tool('update_task', { id: task.id, kanban_status: 'in_progress', due_date: '2026-12-04' });
  await tool('create_task', { content: 'Doomed' });
  await tool('delete_task', { id: task.id + 1 });
  await tool('create_dev_doc', { title: 'guide.md', content: 'one\n' });
  await tool('update_dev_doc', { title: 'guide.md', content: 'two\n' });
  for (let at = 0; at < 12; at += 1) await laptop.push(`notes/${at}.md`, `note ${at}\n`);
  const [newest = '', agent = ''] = await sessions();
  expect(newest).toMatch(/laptop .* 12 files .* 12 changes/);
  expect(agent).toContain(task.changed_by);
  expect(agent).toContain('1 task, 1 document, 1 deleted');
  expect(agent).toContain('Deleted task Doomed');
  expect(agent).toMatch(/Changed task Water the plants Due: none → 4 Dec Column: To do → In progress/);
  const [deleted = ''] = await sessions('/activity?deleted=true');
  expect(deleted).toContain('Doomed');
  expect(deleted).not.toContain('Water');
  expect((await sessions('/activity?kind=files')).join(' ')).not.toContain('Water');
  expect(await sessions('/activity?by=laptop')).toHaveLength(1);
  // The difference of a text.
  await client.open('/activity?kind=documents');
  const change = /href="(\/activity\/change\/\d+)"/.exec(client.html)?.[1] ?? '';
  await client.open(change);
  expect(client.text).toMatch(/Before.*After.*one.*two/);
  // The start page has one line for each.
  await client.open('/');
  expect(client.text).toContain('12 files: notes/11.md, notes/10.md, notes/9.md, …');
});

test('[WEB-24] a whole session is undone: files, tasks and documents become what they were, and the undo can be undone', async () => {
  await laptop.push('keep.md', 'first\nsecond\nthird\n');
  await laptop.push('gone.md', 'still here\n');
  const { task } = await tool<{ task: { id: number } }>('create_task', { content: 'Before' });
  await tool('create_dev_doc', { title: 'rules.md', content: 'old rules\n' });
  const robot = laptop.other('robot');
  const base = async (path: string) => {
    const found = await laptop.result<{ files: { sha256: string }[] }>('sync_pull', { paths: [path] });
    return found.files[0]?.sha256;
  };
  await robot.push('keep.md', 'first\nSECOND\nthird\n', { base_sha: await base('keep.md') });
  await robot.push('new.md', 'made by the robot\n');
  await robot.result('sync_push', {
    path: 'gone.md',
    deleted: true,
    base_sha: await base('gone.md'),
    hlc: robot.clock(),
    device_id: 'robot',
  });
  await undoSession('robot');
  expect(client.text).toContain('Undone: 3 files.');
  expect([await contentOf('keep.md'), await contentOf('gone.md'), await contentOf('new.md')]).toEqual([
    'first\nsecond\nthird\n',
    'still here\n',
    undefined,
  ]);
  await client.submit('/activity/undo');
  expect(await contentOf('keep.md')).toBe('first\nSECOND\nthird\n');
  expect(await contentOf('new.md')).toBe('made by the robot\n');
  expect(task.id).toBeGreaterThan(0);
});

test('[WEB-24] an undo merges with what came since, and leaves alone and names what overlaps', async () => {
  const pusher = laptop.other('agent-x');
  const lines = (changed: Record<number, string>) =>
    Array.from({ length: 20 }, (_, at) => changed[at] ?? `line ${at}`).join('\n');
  const first = await laptop.push('both.md', lines({}));
  const second = await pusher.push('both.md', lines({ 3: 'by the agent' }), { base_sha: first.sha256 });
  const clash = await laptop.push('clash.md', lines({}));
  const theirs = await pusher.push('clash.md', lines({ 3: 'by the agent' }), { base_sha: clash.sha256 });
  await laptop.push('both.md', lines({ 3: 'by the agent', 15: 'by me' }), { base_sha: second.sha256 });
  await laptop.push('clash.md', lines({ 3: 'by me' }), { base_sha: theirs.sha256 });
  await undoSession('agent-x');
  expect(client.text).toContain('Undone: 1 file. 1 was left alone: clash.md, changed since by laptop.');
  expect([await contentOf('both.md'), await contentOf('clash.md')]).toEqual([
    lines({ 15: 'by me' }),
    lines({ 3: 'by me' }),
  ]);
});

test('[WEB-23, WEB-24] a task has its history, and each change of it is undone by itself', async () => {
  const { task } = await tool<{ task: { id: number; changed_by: string } }>('create_task', {
    content: 'Plan the trip',
  });
  await tool('update_task', { id: task.id, content: 'Plan the long trip' });
  await tool('update_task', { id: task.id, is_important: true });
  const page = `/tasks/${task.id}`;
  await client.open(page);
  expect(client.text).toMatch(
    /History Changed by \S+( \S+)* Important: no → yes .*Changed by .* Text: Plan the trip → Plan the long trip .*Added by/,
  );
  await send(undoOf('Text: Plan the trip'));
  expect([client.path, client.text]).toEqual([page, expect.stringContaining('Undone: 1 task.')]);
  const { tasks } = await tool<{ tasks: { id: number; content: string; is_important: boolean }[] }>('list_tasks', {
    search: 'Plan the',
  });
  expect(tasks[0]).toMatchObject({ content: 'Plan the trip', is_important: true });
  await tool('delete_task', { id: task.id });
  await client.open('/activity?deleted=true');
  await send(undoOf('Deleted', 'Plan the trip'));
  expect(client.text).toContain('Undone: 1 task.');
  await client.open(page);
  expect(client.text).toContain('Restored by');
});

test('[WEB-24] documents are undone: a new one goes to the trash, a text comes back, a paper too', async () => {
  await tool('create_paper', { title: 'Essay', content: 'draft one' });
  await tool('create_dev_doc', { title: 'fresh.md', content: 'fresh' });
  const byName = async (name: string, verb: string) => {
    await client.open('/activity?kind=documents');
    await send(undoOf(`${verb} `, name));
    return client.text;
  };
  expect(await byName('fresh.md', 'Added')).toContain('Undone: 1 document.');
  await client.open('/documents/trash');
  expect(client.text).toContain('fresh.md');
  const { papers } = await tool<{ papers: { id: number }[] }>('list_papers', {});
  await tool('update_paper', { id: papers[0]?.id, content: 'draft two' });
  expect(await byName('Essay', 'Changed')).toContain('Undone: 1 document.');
  expect(await tool('get_paper', { id: papers[0]?.id })).toMatchObject({ paper: { content: 'draft one' } });
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`);
  await tool('update_paper', { id: papers[0]?.id, content: lines.join('\n') });
  await tool('update_paper', { id: papers[0]?.id, content: 'all gone' });
  expect(await byName('Essay', 'Changed')).toContain('Undone: 1 document.');
  const { paper } = await tool<{ paper: { content: string } }>('get_paper', { id: papers[0]?.id });
  expect(paper.content === lines.join('\n') ? 'whole' : paper.content.slice(0, 100)).toBe('whole');
});

test('[WEB-23] another account sees nothing of it, and cannot undo it', async () => {
  await client.open('/activity?by=laptop');
  const form = client.forms.find(({ fields }) => fields.has('seq'));
  const other = await signedUp(hub, 'stranger@example.org', PASSWORD);
  await other.open('/activity');
  expect(other.text).not.toContain('laptop');
  expect(other.html).not.toContain('/activity/change/');
  expect((await other.open('/activity/change/1')).status).toBe(404);
  const fields = new URLSearchParams(form?.fields);
  await other.open('/tasks');
  fields.set('csrf', other.form('/tasks').fields.get('csrf') ?? '');
  expect((await other.post('/activity/undo', fields)).status).toBe(404);
  const browser = new PageClient(hub, FIREFOX);
  expect((await browser.open('/activity')).status).toBe(200);
  expect(browser.path).toContain('/signin');
});
