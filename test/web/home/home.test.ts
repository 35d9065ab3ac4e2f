/** The start page: what is due, what happened lately, whether backups are made, and how an agent is connected. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { accessToken, PASSWORD, structured } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { FIREFOX, type PageClient, signedUp } from '../../support/page-client.ts';
import { Device } from '../../support/sync.ts';
import { useHub } from '../../support/use-hub.ts';

const hub = useHub({ loudest: 40 });
let client: PageClient;
let key: string;

beforeAll(async () => {
  client = await signedUp(hub, 'home@example.org', PASSWORD);
  key = /[0-9a-f]{64}/.exec(client.text)?.[0] ?? '';
});

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test('[WEB-10] connecting an agent is open until a key was used, then it is folded away', async () => {
  await client.open('/');
  expect(client.html).not.toContain('Connect another agent');
  expect(client.text).toContain('Connect an agent');
  await structured(hub, 'create_task', { content: 'By an agent' }, key);
  while (!client.html.includes('Connect another agent')) await client.open('/');
  expect(client.html).toMatch(/<details class="more" id="connect-again"><summary>Connect another agent/);
});

test('[WEB-10] what is due today or overdue is listed, and done with one button', async () => {
  await structured(hub, 'create_task', { content: 'Due now', due_date: day(0) }, key);
  await structured(hub, 'create_task', { content: 'Late already', due_date: day(-4) }, key);
  await structured(hub, 'create_task', { content: 'Next week', due_date: day(7) }, key);
  await client.open('/');
  const [, due = ''] = /<h2 id="due">([\s\S]*?)<\/section>/.exec(client.html) ?? [];
  expect([...due.matchAll(/id="task-(\d+)"/g)].map(([, id]) => Number(id))).toEqual([3, 2]);
  expect(due).not.toContain('Next week');
  expect(due.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')).toMatch(/Due today 1 1 overdue/);
  await client.submit('/tasks/2/move', { status: 'done' });
  expect([client.path, client.text]).toEqual(['/?moved=2#task-2', expect.stringContaining('Moved to Done.')]);
});

test('[WEB-10] recent activity tells what devices, agents and people did, newest first, of this account alone', async () => {
  await new Device(hub, key, 'workshop-laptop').push('notes/plan.md', 'text');
  await client.open('/');
  const [, recent = ''] = /<h2 id="activity">([\s\S]*?)<\/section>/.exec(client.html) ?? [];
  expect(recent).toContain('workshop-laptop');
  expect(recent.indexOf('plan.md')).toBeLessThan(recent.indexOf('Next week'));
  expect(recent).toContain('account event');
  expect(recent).toMatch(/<time datetime="[^"]+" title="[^"]+ UTC"[^>]*>just now/);
  const other = await signedUp(hub, 'other@example.org', PASSWORD);
  await other.open('/');
  expect(other.text).not.toContain('workshop-laptop');
});

test('[WEB-10] the home page, the page of a task and the trash name who changed the task last: an agent, an app or a browser', async () => {
  const textOf = async (path: string) => {
    await client.open(path);
    return client.text;
  };
  await structured(hub, 'create_task', { content: 'Passed around' }, key);
  const found = await structured<{ tasks: { id: number; changed_by: string }[] }>(
    hub,
    'list_tasks',
    { search: 'Passed around' },
    key,
  );
  const [{ id, changed_by: keyName } = { id: 0, changed_by: '' }] = found.tasks;
  await client.open('/settings');
  expect(client.text).toContain(keyName);
  expect(await textOf('/')).toMatch(new RegExp(`${keyName} .*Passed around`));
  expect(await textOf(`/tasks/${id}`)).toContain(`Added just now by ${keyName}`);
  const token = await accessToken(hub, 'home@example.org');
  await call(hub, `/api/tasks/${id}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ is_important: true }),
  });
  expect(await textOf('/')).toContain('access token Changed task Passed around');
  expect(await textOf(`/tasks/${id}`)).toContain('last changed just now by access token');
  await client.submit(`/tasks/${id}`, { content: 'Passed around' }, FIREFOX);
  expect(await textOf('/')).toContain('access token Changed task Passed around');
  await client.open(`/tasks/${id}`);
  await client.submit(`/tasks/${id}`, { content: 'Passed on' }, FIREFOX);
  expect(await textOf(`/tasks/${id}`)).toContain('last changed just now by Firefox on Linux');
  expect(await textOf('/')).toContain('Firefox on Linux Changed task Passed on');
  await structured(hub, 'delete_task', { id }, key);
  expect(await textOf('/tasks/trash')).toContain(`Deleted just now by ${keyName}`);
});

test('[WEB-10] an operator is told when backups were never made or have stopped, and nobody else is', async () => {
  await client.open('/');
  expect(client.text).toContain('This hub has never been backed up.');
  const target = join(mkdtempSync(join(tmpdir(), 'cairn-home-')), 'backup');
  expect((await hub.cli('backup', target)).code).toBe(0);
  await client.open('/');
  expect(client.text).not.toContain('backed up');
  const at = Date.now() - 10 * 86_400_000;
  writeFileSync(join(hub.dataFolder, 'last-backup'), JSON.stringify({ at_ms: at, problems: 0 }));
  await client.open('/');
  expect(client.text).toContain('Backups seem to have stopped.');
  const other = await signedUp(hub, 'third@example.org', PASSWORD);
  await other.open('/');
  expect(other.text).not.toContain('Backups seem');
  expect(other.text).not.toContain('never been backed up');
});
