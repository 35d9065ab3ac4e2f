/** The task board with a browser without script: add, move, edit, finish, delete, bring back. */
import { expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { accessToken, PASSWORD, structured } from '../../support/gateway.ts';
import { call } from '../../support/http.ts';
import { type PageClient, signedUp } from '../../support/page-client.ts';
import { useHub } from '../../support/use-hub.ts';

interface Member {
  readonly client: PageClient;
  readonly key: string;
  readonly email: string;
}

const hub = useHub({ loudest: 40 });
let count = 0;

async function member(): Promise<Member> {
  count += 1;
  const email = `board${count}@example.org`;
  const client = await signedUp(hub, email, PASSWORD);
  const [key = ''] = /[0-9a-f]{64}/.exec(client.text) ?? [];
  await client.open('/tasks');
  return { client, key, email };
}

async function taskOf({ key }: Member, id: number) {
  const { tasks } = await structured<{ tasks: Record<string, unknown>[] }>(hub, 'list_tasks', { limit: 500 }, key);
  return tasks.find((task) => task['id'] === id);
}

/** The columns that a page shows, each with the ids of its cards. */
function columnsOf({ html }: PageClient): Record<string, number[]> {
  const sections = [...html.matchAll(/data-column="(\w+)">([\s\S]*?)<\/section>/g)];
  return Object.fromEntries(
    sections.map(([, name = '', body = '']) => [
      name,
      [...body.matchAll(/data-task="(\d+)"/g)].map(([, id]) => Number(id)),
    ]),
  );
}

/** Opens the further tasks of a column. */
async function follow(client: PageClient, label: string): Promise<void> {
  const [, path = ''] = new RegExp(`class="column-more" href="([^"#]*)[^"]*"[^>]*>${label}<`).exec(client.html) ?? [];
  await client.open(path.replaceAll('&amp;', '&'));
}

test('[WEB-1] an empty board says what to do, and a task is added with its facts or without', async () => {
  const who = await member();
  const { client } = who;
  expect(client.text).toContain('Nothing to do yet');
  await client.submit('/tasks', { content: 'Water the plants' });
  expect([client.answer?.status, client.text]).toEqual([200, expect.not.stringContaining('Nothing to do yet')]);
  expect(await taskOf(who, 1)).toMatchObject({ content: 'Water the plants', kanban_status: 'todo', due_date: null });
  await client.submit('/tasks', {
    content: 'Repot them',
    due_date: '2030-02-28',
    kanban_status: 'backlog',
    is_important: 'true',
  });
  expect(await taskOf(who, 2)).toMatchObject({
    content: 'Repot them',
    due_date: '2030-02-28',
    kanban_status: 'backlog',
    is_important: true,
  });
  expect(columnsOf(client)).toEqual({ backlog: [2], todo: [1], in_progress: [], done: [] });
});

test('[WEB-1, TASK-2] a task moves by its buttons through every column and back, and the page opens at its place', async () => {
  const who = await member();
  const { client } = who;
  await client.submit('/tasks', { content: 'Move me', kanban_status: 'backlog' });
  const offered = () => [...client.html.matchAll(/name="status" value="(\w+)" aria-label="Move/g)].map(([, to]) => to);
  const columns = ['backlog', 'todo', 'in_progress', 'done'];
  for (const at of ['backlog', 'todo', 'in_progress'] as const) {
    expect(offered()).toEqual(columns.filter((column) => column !== at));
    const next = { backlog: 'todo', todo: 'in_progress', in_progress: 'done' }[at];
    const answer = await client.post('/tasks/1/move', client.fieldsOf('/tasks/1/move', { status: next }));
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/tasks\?(tab=backlog&)?moved=1#task-1$/),
    ]);
    await client.open('/tasks');
    expect(columnsOf(client)[next]).toEqual([1]);
  }
  expect(offered()).toEqual(columns.slice(0, 3));
  expect(await taskOf(who, 1)).toMatchObject({ kanban_status: 'done', completed: true });
  await client.submit('/tasks/1/move', { status: 'in_progress' });
  expect(await taskOf(who, 1)).toMatchObject({ kanban_status: 'in_progress', completed: false });
  expect((await client.submit('/tasks/1/move', { status: 'elsewhere' })).status).toBe(422);
  expect(client.text).toContain('Kanban_status must be one of backlog, todo, in_progress, done.');
});

test('[WEB-1] a task is edited, and what another changed meanwhile is not overwritten unseen', async () => {
  const who = await member();
  const { client } = who;
  const content = '\n  two\r\nlines & <b>markup</b>\n\nand "more"';
  await client.submit('/tasks', { content: 'First words' });
  await client.open('/tasks/1');
  await client.submit('/tasks/1', { content, due_date: '2030-01-31', is_important: 'true' });
  expect(client.text).toContain('Task saved.');
  const stored = content.replace('\r\n', '\n');
  expect(await taskOf(who, 1)).toMatchObject({ content: stored, due_date: '2030-01-31', is_important: true });
  await client.open('/tasks/1');
  expect(client.fieldsOf('/tasks/1').get('content')).toBe(stored);
  await structured(hub, 'update_task', { id: 1, content: 'By an agent' }, who.key);
  expect((await client.submit('/tasks/1', { content: 'By me' })).status).toBe(422);
  expect(client.text).toContain('This was changed elsewhere');
  expect(await taskOf(who, 1)).toMatchObject({ content: 'By an agent' });
  expect(client.fieldsOf('/tasks/1').get('content')).toBe('By me');
  await client.submit('/tasks/1');
  expect(await taskOf(who, 1)).toMatchObject({ content: 'By me', is_important: true });
  await client.open('/tasks/1');
  await client.submit('/tasks/1', { is_important: undefined, due_date: '' });
  expect(await taskOf(who, 1)).toMatchObject({ is_important: false, due_date: null });
});

test('[WEB-1, TASK-8] of two saves at once from the same page one is done, and a form with an error stays one of its version', async () => {
  const who = await member();
  const { client } = who;
  await client.submit('/tasks', { content: 'First words' });
  await client.open('/tasks/1');
  const forms = Array.from({ length: 6 }, (_, n) => client.fieldsOf('/tasks/1', { content: `By page ${n}` }));
  const answers = await Promise.all(forms.map((form) => client.post('/tasks/1', form)));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([303, 422, 422, 422, 422, 422]);
  await client.open('/tasks/1');
  await structured(hub, 'update_task', { id: 1, content: 'By an agent' }, who.key);
  await client.submit('/tasks/1', { content: 'By me', due_date: '2030-02-30' });
  expect(client.text).toContain('Due date must be a date');
  expect((await client.submit('/tasks/1', { due_date: '' })).status).toBe(422);
  expect(client.text).toContain('was changed elsewhere');
  expect(await taskOf(who, 1)).toMatchObject({ content: 'By an agent' });
});

test('[WEB-1, TASK-1] what is wrong with a task is said in its form, with what was typed', async () => {
  const { client } = await member();
  expect((await client.submit('/tasks', { content: '   ', due_date: '2030-02-30' })).status).toBe(422);
  expect(client.text).toContain('New task must not be empty.');
  expect(client.text).toContain('Due date must be a date like 2026-11-21, or empty.');
  expect(client.fieldsOf('/tasks').get('due_date')).toBe('2030-02-30');
  expect((await client.submit('/tasks', { content: 'x'.repeat(10_001), due_date: '' })).status).toBe(422);
  expect(client.fieldsOf('/tasks').get('content')).toBe('x'.repeat(10_001));
  // A pasted log: the form returns with all of it, to be shortened.
  const log = 'é€ '.repeat(50_000);
  for (const path of ['/tasks', '/tasks/1'] as const) {
    if (path === '/tasks/1') await client.submit('/tasks', { content: 'short' });
    await client.open(path);
    expect((await client.submit(path, { content: log, due_date: '' })).status).toBe(422);
    expect(client.text).toContain('must have at most 10000 characters');
    expect(client.fieldsOf(path).get('content')).toBe(log);
  }
  // Above every form, the browser has it.
  expect((await client.submit('/tasks/1', { content: 'x'.repeat(4_200_000) })).status).toBe(413);
  expect(client.text).toContain('Your text is still in the form: go back with the Back button');
  // The longest task there can be, in the longest form of its characters.
  await client.open('/tasks');
  await client.submit('/tasks', { content: '\u20ac'.repeat(10_000) });
  expect(client.answer?.status).toBe(200);
});

test('[WEB-1, TASK-6] a deleted task is offered back, and comes back', async () => {
  const who = await member();
  const { client } = who;
  await client.submit('/tasks', { content: 'Oops' });
  await client.open('/tasks/1');
  await client.submit('/tasks/1/delete');
  expect(client.text).toContain('Task moved to the trash');
  expect(await taskOf(who, 1)).toBeUndefined();
  await client.submit('/tasks/1/restore');
  expect(client.text).toContain('Undone.');
  expect(columnsOf(client)['todo']).toEqual([1]);
});

test('[WEB-1, KEY-8] a task of another account is one that does not exist', async () => {
  const owner = await member();
  await owner.client.submit('/tasks', { content: 'Mine alone' });
  const other = await member();
  const csrf = other.client.fieldsOf('/tasks').get('csrf') ?? '';
  for (const id of ['1', '999', '0', '-1', 'x', '1e0']) {
    expect([id, (await other.client.send(`/tasks/${id}`)).status]).toEqual([id, 404]);
    for (const action of ['', '/move', '/mark', '/delete', '/restore']) {
      const fields = new URLSearchParams({ csrf, content: 'stolen', status: 'done' });
      const answer = await other.client.post(`/tasks/${id}${action}`, fields);
      expect([id, action, answer.status]).toEqual([id, action, 404]);
    }
  }
  expect(await taskOf(owner, 1)).toMatchObject({ content: 'Mine alone', kanban_status: 'todo' });
});

test('[WEB-1] the board narrows to a category and stays there; a card shows its colour without a style', async () => {
  const who = await member();
  const { client } = who;
  const token = await accessToken(hub, who.email);
  const made = await call(hub, '/api/categories', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: '<i>Garden</i>', color: '#00aa44' }),
  });
  const { id } = made.json() as { id: number };
  await client.open('/tasks');
  await client.submit('/tasks', { content: 'Elsewhere' });
  await client.open(`/tasks?category=${id}`);
  expect(columnsOf(client)).toEqual({ backlog: [], todo: [], in_progress: [], done: [] });
  await client.submit('/tasks', { content: 'Weed' });
  expect(client.path).toBe(`/tasks?category=${id}&added=2`);
  expect(columnsOf(client)['todo']).toEqual([2]);
  expect(client.html).toContain('fill="#00aa44"');
  expect(client.text).toContain('<i>Garden</i>');
  await client.submit('/tasks/2/move', { status: 'done' });
  expect(client.path).toBe(`/tasks?category=${id}&moved=2#task-2`);
  expect(await taskOf(who, 2)).toMatchObject({ category_id: id, kanban_status: 'done' });
  await client.open('/tasks/2');
  await client.submit('/tasks/2', { category_id: '' });
  expect(await taskOf(who, 2)).toMatchObject({ category_id: null });
});

test('[WEB-1, LIM-2] a long column is shown page by page, each task once', async () => {
  const who = await member();
  const { client } = who;
  const total = limits.boardColumnRows + 7;
  for (let made = 0; made < total; made += 1) {
    await structured(hub, 'create_task', { content: `Task ${made}` }, who.key);
  }
  await client.open('/tasks');
  const shown = () => columnsOf(client)['todo'] ?? [];
  expect(shown()).toHaveLength(limits.boardFirstRows);
  await follow(client, `Show ${limits.boardColumnRows - limits.boardFirstRows} more`);
  expect([client.path, shown().length]).toEqual(['/tasks?more=todo', limits.boardColumnRows]);
  // An act keeps what is unfolded.
  const actAt = async (id = 0) => {
    const fields = client.fieldsOf(`/tasks/${id}/move`, { important: 'true' });
    return (await client.post(`/tasks/${id}/mark`, fields)).headers.location;
  };
  expect(await actAt(shown()[0])).toMatch(/^\/tasks\?more=todo&moved=\d+#/);
  await client.open('/tasks?more=todo');
  await follow(client, `Show all ${total}`);
  expect(Object.keys(columnsOf(client))).toEqual(['todo']);
  const first = shown();
  await follow(client, 'Next page');
  const rest = shown();
  expect(new Set([...first, ...rest]).size).toBe(total);
  expect(client.html).not.toContain('class="column-more"');
  expect(await actAt(rest[0])).toMatch(/^\/tasks\?column=todo&page=2&more=todo&moved=\d+#/);
});

test('[WEB-9, LIM-2] hundreds of tasks placed by hand make no page long, and each is shown once, also when filtered by date', async () => {
  const who = await member();
  const { client } = who;
  const total = 2 * limits.boardColumnRows + 8;
  for (let made = 0; made < total; made += 1) {
    await structured(hub, 'create_task', { content: `Task ${made}`, due_date: '2020-01-01' }, who.key);
  }
  // Moved to the end of its column, so that all above it are placed, too; the column has others afterwards.
  await client.open('/tasks');
  await client.submit('/tasks/1/move', { before: '' });
  await structured(hub, 'create_task', { content: 'Later', due_date: '2020-01-02' }, who.key);
  for (const query of ['', 'due=overdue&']) {
    await client.open(`/tasks?${query}`);
    expect(columnsOf(client)['todo']).toHaveLength(limits.boardFirstRows);
    const seen: number[] = [];
    await client.open(`/tasks?${query}column=todo`);
    for (let isLast = false; !isLast; ) {
      const ids = columnsOf(client)['todo'] ?? [];
      expect(ids.length).toBeGreaterThan(0);
      expect(ids.length).toBeLessThanOrEqual(2 * limits.boardColumnRows);
      seen.push(...ids);
      isLast = !client.html.includes('column-more');
      if (!isLast) await follow(client, 'Next page');
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: total + 1 }, (_, at) => at + 1));
  }
});

test('[WEB-1] what is overdue and what is due today is told by the reader’s own day', async () => {
  const { client } = await member();
  const dayIn = (timeZone: string) => new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone }).format();
  // Twenty-five hours apart, so that they never have the same day.
  const [east, west] = ['Pacific/Kiritimati', 'Pacific/Niue'];
  await client.submit('/tasks', { content: 'Due in the west', due_date: dayIn(west) });
  client.cookies.set('cairn_zone', west);
  await client.open('/tasks');
  expect(client.text).toContain('due today');
  client.cookies.set('cairn_zone', east);
  await client.open('/tasks');
  expect(client.text).toContain('overdue');
  expect(client.html).toContain(`data-zone="${east}"`);
  for (const wrong of ['Nowhere/None', '"><script>', '../etc/passwd', 'x'.repeat(5000)]) {
    client.cookies.set('cairn_zone', wrong);
    await client.open('/tasks');
    expect([client.answer?.status, client.html]).toEqual([200, expect.stringContaining('data-zone="UTC"')]);
  }
  // As the script names it under TLS.
  client.cookies.set('__Host-cairn_zone', east);
  await client.open('/tasks');
  expect(client.html).toContain(`data-zone="${east}"`);
});

test('[WEB-4] markup in a task is shown as text, on the board and where it is edited', async () => {
  const who = await member();
  const { client } = who;
  const markup = '</textarea></p><script>alert(1)</script><img src=x onerror=alert(2)>" onfocus=alert(3) autofocus="';
  await client.submit('/tasks', { content: markup, is_important: 'true' });
  for (const path of ['/tasks', '/tasks/1']) {
    await client.open(path);
    expect(client.html.match(/<script/g)).toEqual(['<script']);
    expect(client.html).not.toMatch(/<img|<[^>]*\sonfocus=|<\/textarea><\/p>/);
  }
  expect(client.fieldsOf('/tasks/1').get('content')).toBe(markup);
});
