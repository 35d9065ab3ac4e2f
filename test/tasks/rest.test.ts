/** Proves tasks and categories over HTTP, against a hub that runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessToken } from '../support/gateway.ts';
import { type Answer, call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { type Account, account } from '../support/mirror.ts';

let hub: Hub;
let owner: Account;
let bearer: string;
let stranger: string;

beforeAll(async () => {
  hub = await startHub();
  owner = await account(hub);
  bearer = await accessToken(hub, owner.email);
  stranger = await accessToken(hub, (await account(hub)).email);
});

afterAll(() => hub.stop());

type Fields = Record<string, unknown>;

function send(method: string, path: string, body?: unknown, token = bearer): Promise<Answer> {
  const headers = { Authorization: `Bearer ${token}` };
  if (body === undefined) return call(hub, path, { method, headers });
  const typed = { ...headers, 'Content-Type': 'application/json' };
  return call(hub, path, { method, headers: typed, body: JSON.stringify(body) });
}

async function create(fields: Fields, path = '/api/tasks'): Promise<Fields & { id: number }> {
  const answer = await send('POST', path, fields);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.json() as Fields & { id: number };
}

/** The fields that a 422 names, in order of the alphabet. */
function refused(answer: Answer): string[] {
  expect(answer.status).toBe(422);
  const { error, errors } = answer.json() as { error: string; errors: Record<string, string[]> };
  expect(error).not.toBe('');
  for (const sentences of Object.values(errors)) expect(sentences.length).toBeGreaterThan(0);
  return Object.keys(errors).sort();
}

async function list(query: string, token = bearer) {
  const answer = await send('GET', `/api/tasks?${query}`, undefined, token);
  expect(answer.status).toBe(200);
  return answer.json() as { data: (Fields & { id: number; content: string })[]; meta: Fields };
}

test.each([
  ['GET', '/api/tasks'],
  ['POST', '/api/tasks'],
  ['GET', '/api/tasks/1'],
  ['PATCH', '/api/tasks/1'],
  ['DELETE', '/api/tasks/1'],
  ['GET', '/api/categories'],
  ['POST', '/api/categories'],
  ['GET', '/api/categories/1'],
  ['PATCH', '/api/categories/1'],
  ['DELETE', '/api/categories/1'],
])('[TASK-4, CAT-1] %s %s takes an access token and nothing else', async (method, path) => {
  for (const value of [undefined, `McpKey ${owner.mcp_key}`, `Bearer ${owner.mcp_key}`, `McpKey ${bearer}`]) {
    const answer = await call(hub, path, { method, headers: { Authorization: value } });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  }
});

test('[TASK-1, TASK-4] a task is made, read, changed and deleted', async () => {
  const made = await send('POST', '/api/tasks', { content: 'Grüße 😀', due_date: '2026-12-01', is_important: true });
  expect(made.status).toBe(201);
  const task = made.json() as Fields & { id: number };
  expect(made.headers.location).toBe(`/api/tasks/${task.id}`);
  expect(task).toEqual({
    id: expect.any(Number),
    content: 'Grüße 😀',
    due_date: '2026-12-01',
    is_important: true,
    completed: false,
    completed_at: null,
    category_id: null,
    kanban_status: 'todo',
    version: 1,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updated_at: task['created_at'],
    changed_by: 'access token',
  });
  const path = `/api/tasks/${task.id}`;
  expect((await send('GET', path)).json()).toEqual(task);
  const changed = await send('PATCH', path, { due_date: null });
  expect([changed.status, changed.json()]).toEqual([
    200,
    { ...task, due_date: null, version: 2, updated_at: expect.any(String) },
  ]);
  expect((await send('GET', path)).json()).toEqual(changed.json());
  const deleted = await send('DELETE', path);
  expect([deleted.status, deleted.text]).toEqual([204, '']);
  for (const method of ['GET', 'DELETE']) {
    const gone = await send(method, path);
    expect([gone.status, gone.json()]).toEqual([404, { error: 'task not found' }]);
  }
  expect((await send('PATCH', path, { content: 'b' })).status).toBe(404);
});

test('[TASK-6, CAT-1] PATCH with restore brings a task back, and a category with its tasks', async () => {
  const category = await create({ name: 'Harbour' }, '/api/categories');
  const { id } = await create({ content: 'paint the crane', category_id: category.id });
  const [task, home] = [`/api/tasks/${id}`, `/api/categories/${category.id}`];
  for (const path of [task, home]) {
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('PATCH', path, {})).status).toBe(404);
    expect((await send('PATCH', path, { restore: false })).status).toBe(404);
    expect(refused(await send('PATCH', path, { restore: 'yes' }))).toEqual(['restore']);
    expect((await send('PATCH', path, { restore: true }, stranger)).status).toBe(404);
  }
  const back = await send('PATCH', home, { restore: true, color: '#112233' });
  expect([back.status, back.json()]).toMatchObject([
    200,
    { id: category.id, name: 'Harbour', color: '#112233', task_count: 0 },
  ]);
  const restored = await send('PATCH', task, { restore: true, is_important: true });
  expect([restored.status, restored.json()]).toMatchObject([200, { category_id: category.id, is_important: true }]);
  expect((await send('GET', home)).json()).toMatchObject({ task_count: 1 });
  // What is not in the trash is changed.
  expect((await send('PATCH', home, { restore: true, name: 'Port' })).json()).toMatchObject({ name: 'Port' });
  expect((await send('PATCH', '/api/categories/x', { restore: true })).status).toBe(404);
  expect((await send('PATCH', '/api/tasks/x', { restore: true })).status).toBe(404);
});

test('[TASK-8] a change made from another version is refused with the current task, and changes nothing', async () => {
  const { id } = await create({ content: 'a', due_date: '2026-12-01' });
  const path = `/api/tasks/${id}`;
  expect((await send('PATCH', path, { content: 'b', expected_version: 1 })).json()).toMatchObject({ version: 2 });
  expect((await send('PATCH', path, { content: 'b', expected_version: 2 })).json()).toMatchObject({ version: 2 });
  const stale = await send('PATCH', path, { content: 'c', due_date: null, expected_version: 1 });
  expect([stale.status, stale.json()]).toEqual([
    409,
    { error: expect.stringContaining(`The task is now: #${id} b (`) },
  ]);
  expect((await send('GET', path)).json()).toMatchObject({ content: 'b', due_date: '2026-12-01', version: 2 });
  for (const expected of [0, -1, 1.5, 'x', null]) {
    const refused = await send('PATCH', path, { content: 'c', expected_version: expected });
    expect([refused.status, refused.json()]).toMatchObject([422, { errors: { expected_version: expect.anything() } }]);
  }
  expect((await send('POST', '/api/tasks', { content: 'a', expected_version: 1 })).status).toBe(422);
});

test('[TASK-8] of many changes at once made from the same version one is done', async () => {
  const { id } = await create({ content: 'start' });
  for (let version = 1; version <= 5; version += 1) {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        send('PATCH', `/api/tasks/${id}`, { content: `${version} by ${n}`, expected_version: version }),
      ),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 11 }, () => 409),
    ]);
    const won = answers.find(({ status }) => status === 200);
    expect((await send('GET', `/api/tasks/${id}`)).json()).toEqual(won?.json());
  }
});

test('[TASK-2] status and completion agree, whichever is written', async () => {
  const { id } = await create({ content: 'a', kanban_status: 'done' });
  const path = `/api/tasks/${id}`;
  expect((await send('GET', path)).json()).toMatchObject({ completed: true, completed_at: expect.any(String) });
  expect((await send('PATCH', path, { completed: false })).json()).toMatchObject({
    kanban_status: 'todo',
    completed_at: null,
  });
  expect((await send('PATCH', path, { completed: true })).json()).toMatchObject({ kanban_status: 'done' });
  expect(refused(await send('PATCH', path, { completed: true, kanban_status: 'todo' }))).toEqual([
    'completed',
    'kanban_status',
  ]);
});

test.each(['0', '-1', '1.5', 'x', '01', '99999', '99999999999999999999', '%00', '1e3'])(
  '[TASK-4, CAT-1] an id that is none is 404: %s',
  async (id) => {
    for (const collection of ['/api/tasks', '/api/categories']) {
      for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
        const answer = await send(method, `${collection}/${id}`, body);
        expect([answer.status, typeof answer.json()['error']]).toEqual([404, 'string']);
      }
    }
  },
);

test('[TASK-4, CAT-1] what belongs to another account is as if it did not exist', async () => {
  const { id: category } = await create({ name: 'mine' }, '/api/categories');
  const { id } = await create({ content: 'mine', category_id: category });
  for (const path of [`/api/tasks/${id}`, `/api/categories/${category}`]) {
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      const foreign = await send(method, path, body, stranger);
      const unknown = await send(method, path.replace(/\d+$/, '777'), body, stranger);
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
    }
  }
  expect((await list('', stranger)).meta['total']).toBe(0);
  expect((await list(`category_id=${category}`, stranger)).data).toEqual([]);
  expect(refused(await send('POST', '/api/tasks', { content: 'a', category_id: category }, stranger))).toEqual([
    'category_id',
  ]);
});

test('[TASK-4] all wrong fields are told at once, unknown ones with a guess', async () => {
  const answer = await send('POST', '/api/tasks', {
    content: ' ',
    due_date: '2026-02-30',
    is_important: 'no',
    completed: 0,
    category_id: 9999,
    kanban_status: 'later',
    is_importent: true,
  });
  expect(refused(answer)).toEqual([
    'category_id',
    'completed',
    'content',
    'due_date',
    'is_important',
    'is_importent',
    'kanban_status',
  ]);
  expect(answer.text).toContain('did you mean is_important?');
  expect(refused(await send('POST', '/api/tasks', {}))).toEqual(['content']);
  expect(refused(await send('POST', '/api/tasks'))).toEqual(['body']);
  expect(refused(await send('POST', '/api/tasks', []))).toEqual(['body']);
  const { id } = await create({ content: 'a' });
  expect(refused(await send('PATCH', `/api/tasks/${id}`, { content: '', id: 4 }))).toEqual(['content', 'id']);
  expect((await send('PATCH', `/api/tasks/${id}`, {})).status).toBe(200);
});

test('[TASK-4] a body that is not JSON is 400, and one of another type 415', async () => {
  const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
  expect((await call(hub, '/api/tasks', { method: 'POST', headers, body: '{' })).status).toBe(400);
  const text = { ...headers, 'Content-Type': 'text/plain' };
  expect((await call(hub, '/api/tasks', { method: 'POST', headers: text, body: '{}' })).status).toBe(415);
});

test('[TASK-3] pages follow one another, and every filter counts', async () => {
  const token = await accessToken(hub, (await account(hub)).email);
  const post = (fields: Fields) => send('POST', '/api/tasks', fields, token);
  const { id: category } = (await send('POST', '/api/categories', { name: 'home' }, token)).json();
  for (let n = 1; n <= 30; n += 1) {
    await post({
      content: `t${String(n).padStart(2, '0')}`,
      due_date: n % 3 === 0 ? null : `2026-12-${String(n).padStart(2, '0')}`,
      is_important: n % 2 === 0,
      ...(n % 5 === 0 ? { kanban_status: 'done' } : {}),
      ...(n % 4 === 0 ? { category_id: category } : {}),
    });
  }
  const first = await list('', token);
  expect(first.meta).toEqual({ page: 1, per_page: 25, total: 30, total_pages: 2 });
  expect(first.data.map(({ id }) => id)).toEqual(Array.from({ length: 25 }, (_, n) => 30 - n));
  expect((await list('page=2', token)).data.map(({ id }) => id)).toEqual([5, 4, 3, 2, 1]);
  expect(await list('page=9', token)).toEqual({ data: [], meta: { page: 9, per_page: 25, total: 30, total_pages: 2 } });
  expect((await list('per_page=7&page=2&sort_by=content', token)).data.map(({ content }) => content)).toEqual(
    Array.from({ length: 7 }, (_, n) => `t${String(n + 8).padStart(2, '0')}`),
  );
  const totals = {
    completed: ['true', 6],
    is_important: ['false', 15],
    kanban_status: ['todo', 24],
    category_id: [String(category), 7],
    due_date_from: ['2026-12-28', 2],
    due_date_to: ['2026-12-02', 2],
  };
  for (const [name, [value, total]] of Object.entries(totals)) {
    expect({ name, total: (await list(`${name}=${value}`, token)).meta['total'] }).toEqual({ name, total });
  }
  expect((await list('due_date_from=2026-12-10&due_date_to=2026-12-20&completed=false', token)).meta['total']).toBe(6);
  for (const order of ['asc', 'desc']) {
    const { data } = await list(`sort_by=due_date&sort_order=${order}&per_page=100`, token);
    const dates = data.map(({ due_date: due }) => due);
    expect(dates.slice(20)).toEqual(Array.from({ length: 10 }, () => null));
    const days = Array.from({ length: 30 }, (_, n) => n + 1).filter((n) => n % 3 !== 0);
    const rising = days.map((n) => `2026-12-${String(n).padStart(2, '0')}`);
    expect(dates.slice(0, 20)).toEqual(order === 'asc' ? rising : rising.reverse());
  }
  const important = (await list('sort_by=is_important&sort_order=asc&per_page=100', token)).data;
  expect(important.map(({ id }) => id)).toEqual(
    [1, 0].flatMap((rest) => Array.from({ length: 15 }, (_, n) => 2 * n + 2 - rest)),
  );
});

test.each([
  ['page=0', ['page']],
  ['page=-1', ['page']],
  ['page=x', ['page']],
  ['per_page=101', ['per_page']],
  ['per_page=0', ['per_page']],
  ['sort_by=id', ['sort_by']],
  ['sort_order=up', ['sort_order']],
  ['completed=maybe', ['completed']],
  ['is_important=', ['is_important']],
  ['kanban_status=DONE', ['kanban_status']],
  ['category_id=home', ['category_id']],
  ['due_date_from=2026-02-30', ['due_date_from']],
  ['due_date_to=tomorrow', ['due_date_to']],
  ['due_date_from=2026-12-02&due_date_to=2026-12-01', ['due_date_to']],
  ['page=0&per_page=x&sort_by=y', ['page', 'per_page', 'sort_by']],
])('[TASK-3] a bad query is 422 per field: %s', async (query, fields) => {
  expect(refused(await send('GET', `/api/tasks?${query}`))).toEqual(fields);
});

test('[CAT-1] a category is made, listed, changed and deleted, and its tasks stay', async () => {
  const made = await send('POST', '/api/categories', { name: 'Errands', color: '#A0B1C2' });
  expect(made.status).toBe(201);
  const category = made.json() as Fields & { id: number };
  expect(category).toMatchObject({ name: 'Errands', color: '#a0b1c2', position: expect.any(Number), task_count: 0 });
  const path = `/api/categories/${category.id}`;
  expect(made.headers.location).toBe(path);
  const { id } = await create({ content: 'a', category_id: category.id });
  const counted = { ...category, task_count: 1 };
  expect((await send('GET', path)).json()).toEqual(counted);
  const { data } = (await send('GET', '/api/categories')).json() as { data: Fields[] };
  expect(data).toContainEqual(counted);
  const changed = await send('PATCH', path, { name: 'Chores', position: 0 });
  expect([changed.status, changed.json()]).toEqual([
    200,
    { ...counted, name: 'Chores', position: 0, updated_at: expect.any(String) },
  ]);
  expect(refused(await send('POST', '/api/categories', { name: 'CHORES' }))).toEqual(['name']);
  expect(refused(await send('POST', '/api/categories', { name: '', color: 'red', position: -1, colour: 1 }))).toEqual([
    'color',
    'colour',
    'name',
    'position',
  ]);
  expect(refused(await send('POST', '/api/categories'))).toEqual(['body']);
  const deleted = await send('DELETE', path);
  expect([deleted.status, deleted.text]).toEqual([204, '']);
  expect((await send('GET', path)).status).toBe(404);
  expect((await send('GET', `/api/tasks/${id}`)).json()).toMatchObject({ content: 'a', category_id: null });
});

test('[TASK-4] what was acknowledged is there after the process was killed', async () => {
  const { id } = await create({ content: 'durable' });
  await hub.kill();
  hub = await startHub({ dataFolder: hub.dataFolder });
  expect((await send('GET', `/api/tasks/${id}`)).json()).toMatchObject({ content: 'durable' });
});
