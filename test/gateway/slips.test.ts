/**
 * Calls as models and the programs around them make them: repaired where only one thing can be meant, else refused with a
 * sentence that leads to the right call.
 */
import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { argumentSchemas, callAsClient, callTool, structured } from '../support/gateway.ts';
import { type Account, account } from '../support/mirror.ts';
import { eachExample } from '../support/tool-examples.ts';
import { useHub } from '../support/use-hub.ts';

interface Schema {
  readonly properties: Record<string, { readonly type?: string | string[]; readonly anyOf?: { type?: string }[] }>;
  readonly required?: readonly string[];
}

const hub = useHub({ env: { CAIRN_RATE_LIMIT: '0', CAIRN_SIGNIN_LIMIT: '0' }, loudest: 40 });
let owner: Account;
let vaultId: string;
let schemas: Map<string, Schema>;

beforeAll(async () => {
  owner = await account(hub);
  schemas = (await argumentSchemas(hub)) as unknown as Map<string, Schema>;
  const call = (name: string, args: object) => structured(hub, name, args, owner.mcp_key);
  await call('create_dev_doc', { title: 'style.md', content: 'x' });
  vaultId = String((await call('vault_create', { name: 'Notes' }))['vault_id']);
});

/** Arguments as a client sends them that knows only text. */
function asText(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' || value === null ? value : JSON.stringify(value),
    ]),
  );
}

/** Null for each optional argument that is not given and cannot be null, as strict modes of models send it. */
function withNulls(name: string, args: Record<string, unknown>): Record<string, unknown> {
  const { properties, required = [] } = schemas.get(name) ?? { properties: {} };
  const absent = Object.entries(properties).filter(([field, { type, anyOf }]) => {
    const types = [type, ...(anyOf ?? []).map((one) => one.type)].flat();
    return !required.includes(field) && !(field in args) && !types.includes('null');
  });
  return { ...args, ...Object.fromEntries(absent.map(([field]) => [field, null])) };
}

const repairs: readonly (readonly [string, (name: string, args: Record<string, unknown>) => unknown])[] = [
  ['with every value as text', (_, args) => asText(args)],
  ['with null for each argument left out', withNulls],
  ['with its arguments as one JSON text', (_, args) => JSON.stringify(args)],
];

test.each(repairs)('[TOOL-5] the example of every tool works %s', async (_, change) => {
  const { mcp_key: key, account_id: owned } = await account(hub);
  const called: string[] = [];
  await eachExample(hub, async (name, args) => {
    called.push(name);
    // An address has one account.
    const own = args['email'] === undefined ? args : { ...args, email: `${owned}@example.org` };
    return await structured(hub, name, change(name, own), key);
  });
  expect(called.toSorted()).toEqual([...schemas.keys()].toSorted());
});

test('[TOOL-5, EVENT-2] a key in arguments that came as one JSON text is a key', async () => {
  const { mcp_key: key } = await account(hub);
  const once = JSON.stringify({ content: 'only once', idempotency_key: 'as-text-1' });
  const create = () => structured<{ task: { id: number } }>(hub, 'create_task', once as never, key);
  const first = await create();
  expect((await create()).task.id).toBe(first.task.id);
});

test('[TOOL-5] a number as lists show it, with its sign, is that number; a text with another is none', async () => {
  const { mcp_key: key } = await account(hub);
  const { task } = await structured<{ task: { id: number } }>(hub, 'create_task', { content: 'x' }, key);
  const { category } = await structured<{ category: { id: number } }>(hub, 'create_category', { name: 'Home' }, key);
  const changed = { id: `#${task.id}`, category_id: `#${category.id}` };
  const moved = await structured(hub, 'update_task', changed, key);
  expect(moved).toMatchObject({ task: { id: task.id, category_id: category.id } });
  expect(await structured(hub, 'delete_task', { id: `#${task.id}` }, key)).toMatchObject({ id: task.id });
  for (const id of ['##1', '#', '# 1', '#-1', '#1.5', '1#'])
    expect((await callTool(hub, 'delete_task', { id }, key)).error).toMatchObject({
      code: -32602,
      data: { field: 'id' },
    });
});

const ONE_OF = (...names: string[]) => `did you mean ${names.join(' or ')}?`;
const sha256 = createHash('sha256').update('x').digest('hex');
const push = { path: 'a.md', content: 'x', sha256 };

/** A wrong call, the field that is wrong, and what the message says of it. */
const refused: readonly (readonly [string, Record<string, unknown>, string, string])[] = [
  ['create_task', { title: 'Buy milk' }, 'title', ONE_OF('content')],
  ['create_task', { content: 'x', dueDate: '2026-12-01' }, 'dueDate', ONE_OF('due_date')],
  ['create_task', { content: 'x', due: '2026-12-01' }, 'due', ONE_OF('due_date')],
  ['create_task', { content: 'x', due_date: 'tomorrow' }, 'due_date', 'a date like 2026-11-21'],
  ['create_task', { content: 'x', priority: 'high' }, 'priority', ONE_OF('is_important')],
  ['create_task', { content: 'x', category: 'Work' }, 'category', ONE_OF('category_id')],
  ['create_task', { content: 'x', category_id: 'Work' }, 'category_id', 'list_categories'],
  ['create_task', { content: 'x', category_id: 99 }, 'category_id', 'one of your categories'],
  ['create_task', { content: 'x', kanban_status: 'Done' }, 'kanban_status', ONE_OF('done')],
  ['create_task', { task: { content: 'x' } }, 'task', ONE_OF('content')],
  ['create_task', { arguments: { content: 'x' } }, 'arguments', 'directly, without arguments around them'],
  ['create_task', { content: 'x', kanban_status: 'doing' }, 'kanban_status', ONE_OF('in_progress')],
  ['list_tasks', { status: 'open' }, 'status', 'done; for all but done, send completed: false'],
  ['list_tasks', { category_id: 'Work' }, 'category_id', 'list_categories'],
  ['list_tasks', { category_id: 99 }, 'category_id', 'one of your categories'],
  ['list_papers', { category_id: 99 }, 'category_id', 'one of your categories'],
  ['list_tasks', { sort_by: 'due' }, 'sort_by', ONE_OF('due_date')],
  ['list_tasks', { status: 'In Progress' }, 'status', ONE_OF('in_progress')],
  ['list_tasks', { limit: 1000 }, 'limit', 'between 1 and 500'],
  ['list_tasks', { limit: '1000' }, 'limit', 'between 1 and 500'],
  ['list_tasks', { max_results: 5 }, 'max_results', ONE_OF('limit')],
  ['list_tasks', { query: 'milk' }, 'query', ONE_OF('search')],
  ['list_tasks', { search: '' }, 'search', 'must not be empty; omit it instead'],
  ['list_tasks', { sort: 'due_date' }, 'sort', ONE_OF('sort_by', 'sort_order')],
  ['list_tasks', { due_today: 'yes' }, 'due_today', 'true or false'],
  ['update_task', { task_id: 1 }, 'task_id', ONE_OF('id')],
  ['update_task', { id: 'Buy milk' }, 'id', 'a number returned by list_tasks'],
  ['update_task', { id: 1, status: 'done' }, 'status', ONE_OF('kanban_status')],
  ['update_task', { id: null, content: 'x' }, 'id', 'a number returned by list_tasks'],
  ['delete_task', { content: 'Buy milk' }, 'id', 'is required; it must be a number returned by list_tasks'],
  ['create_category', { title: 'Work' }, 'title', ONE_OF('name')],
  ['create_category', { name: 'Work', color: 'red' }, 'color', '# and six hex digits'],
  ['update_category', { category_id: 1, name: 'x' }, 'category_id', ONE_OF('id')],
  ['delete_category', { name: 'Work' }, 'id', 'returned by list_categories'],
  ['list_categories', { limit: 5 }, 'limit', 'known fields: none'],
  ['search', { q: 'x' }, 'query', 'query is required'],
  ['fetch', { uri: 'cairn://tasks/1' }, 'id', 'id is required'],
  ['list_backups', { repository: 'x' }, 'repository', 'known fields: none'],
  ['set_timezone', { tz: 'Asia/Seoul' }, 'tz', ONE_OF('timezone')],
  ['set_timezone', { timezone: 'UTC+9' }, 'timezone', 'Asia/Seoul'],
  ['create_dev_doc', { name: 'a.md', content: 'x' }, 'name', ONE_OF('title')],
  ['create_dev_doc', { title: 'a.md', body: 'x' }, 'body', ONE_OF('content')],
  ['create_dev_doc', { title: 'a.md', content: { a: 1 } }, 'content', 'must be a string'],
  ['create_dev_doc', { title: 'style.md', content: 'y' }, 'title', 'change it with update_dev_doc'],
  ['list_dev_docs', { cursor: '' }, 'cursor', 'omit it instead'],
  ['list_dev_docs', { query: 'x' }, 'query', ONE_OF('search')],
  ['get_dev_doc', { doc_id: 1 }, 'doc_id', ONE_OF('id')],
  ['get_dev_doc', { path: 'style.md' }, 'path', ONE_OF('title')],
  ['get_dev_doc', { id: 'style.md' }, 'id', 'a number returned by list_dev_docs'],
  ['get_dev_doc', { id: 1, title: 'style.md' }, 'title', 'id or title, not both'],
  ['update_dev_doc', { title: 'style.md', text: 'y' }, 'text', ONE_OF('content')],
  ['update_dev_doc', { title: 'style.md', content: 'y', mode: 'overwrite' }, 'mode', 'replace, append, prepend'],
  ['update_dev_doc', { id: 1, title: 'b.md', content: 'y' }, 'title', 'new_title gives it another title'],
  ['update_dev_doc', { id: 1, category: 'skills', content: 'y' }, 'category', 'new_category moves it'],
  ['update_dev_doc', { id: 1 }, 'content', 'or new_title, new_category'],
  ['delete_dev_doc', { name: 'style.md' }, 'name', ONE_OF('title')],
  ['pull_dev_docs', { since: 'yesterday' }, 'since', '2026-11-20T20:18:57.123Z'],
  ['list_dev_categories', { category: 'docs' }, 'category', 'known fields: none'],
  ['handoff_save', { project: 'p', topic: 't', summary: 'x' }, 'summary', ONE_OF('content')],
  ['handoff_save', { project: 'p', topic: 't', content: 'x', time: '14:30' }, 'time', 'such as "1430"'],
  ['handoff_save', { project: 'p', title: 't', content: 'x' }, 'title', ONE_OF('topic')],
  ['handoff_get', { project: 'p', topic: 't', date: 'latest' }, 'date', 'a date like 2026-11-21'],
  ['handoff_list', { repo: 'p' }, 'repo', ONE_OF('project')],
  ['list_papers', { search: 'x' }, 'search', 'known fields: include_content'],
  ['get_paper', { paperId: 1 }, 'paperId', ONE_OF('id')],
  ['get_paper', { title: 'On cairns' }, 'id', 'returned by list_papers'],
  ['create_paper', { title: 'x', text: 'y' }, 'text', ONE_OF('content')],
  ['update_paper', { id: 1, public: true }, 'public', ONE_OF('published')],
  ['publish_paper', { id: 1, publish: true }, 'publish', ONE_OF('published')],
  ['delete_paper', { id: 'On cairns' }, 'id', 'returned by list_papers'],
  ['vault_list', { name: 'x' }, 'name', 'known fields: none'],
  ['vault_create', { vault_name: 'x' }, 'vault_name', ONE_OF('name')],
  ['vault_create', { name: 'x', protected_paths: '[*.md' }, 'protected_paths', 'must be a list'],
  ['vault_rename', { id: 'x', name: 'y' }, 'id', ONE_OF('vault_id')],
  ['vault_rename', { vault_id: 'notes', name: 'y' }, 'vault_id', 'this is the name of v_'],
  ['vault_delete', { vault: 'x', confirm: 'x' }, 'vault', ONE_OF('vault_id')],
  ['vault_clone', { vault: 'Notes' }, 'vault', ONE_OF('vault_id')],
  ['vault_connect_status', { vault_id: 'NOTES' }, 'vault_id', 'this is the name of v_'],
  ['vault_sync', { action: 'Status' }, 'action', ONE_OF('status')],
  ['vault_sync', { mode: 'status' }, 'mode', ONE_OF('action')],
  ['vault_sync', { action: 'status', prefix: '/notes' }, 'prefix', 'relative to the vault: notes'],
  ['sync_push', { ...push, path: '/a.md', base_sha: '' }, 'path', 'without a leading /: a.md'],
  ['sync_push', { ...push, path: './노트/a.md', base_sha: '' }, 'path', 'send the plain path: 노트/a.md'],
  ['sync_push', { ...push, path: 'notes\\a.md', base_sha: '' }, 'path', 'separate folders with /: notes/a.md'],
  ['sync_push', { file_path: 'a.md', content: 'x' }, 'file_path', ONE_OF('path')],
  ['sync_push', { ...push, hash: sha256 }, 'hash', 'known fields: path'],
  [
    'sync_push',
    { path: 'a.md', content: 'x', device_id: 'laptop' },
    'sha256',
    `required; the received content has ${sha256}`,
  ],
  ['sync_push', { ...push, sha256: '0'.repeat(64), base_sha: '' }, 'sha256', `${sha256}; send that`],
  ['sync_push', { ...push, base_sha: '', mtime: 1_732_000_000 }, 'mtime', 'ISO 8601'],
  ['sync_push', { ...push, base_sha: '', encoding: 'utf8' }, 'encoding', ONE_OF('utf-8')],
  ['sync_push', { ...push, base_sha: '', vault_id: 'notes' }, 'vault_id', 'this is the name of v_'],
  ['sync_push_many', { files: 'a.md' }, 'files', 'must be a list'],
  ['sync_push_many', { file: [push] }, 'file', ONE_OF('files')],
  ['sync_pull', {}, 'path', 'one of path, paths, since, initial: true or cursor'],
  ['sync_pull', { paths: '[a.md' }, 'paths', 'must be a list'],
  ['sync_pull', { file: 'a.md' }, 'file', ONE_OF('path')],
  ['sync_list', { path: 'notes' }, 'path', ONE_OF('prefix')],
  ['sync_list', { prefix: './notes' }, 'prefix', 'relative to the vault: notes'],
  ['sync_list', { prefix: '/' }, 'prefix', 'omit it for all files'],
  ['sync_diff', { path: '/a.md' }, 'path', 'without a leading /: a.md'],
  ['sync_merge', { path: 'a.md', content: 'x', strategy: 'ours' }, 'strategy', ONE_OF('favor')],
  ['sync_history', { file: 'a.md' }, 'file', ONE_OF('path')],
  ['sync_restore', { path: 'a.md', version: 1 }, 'version', ONE_OF('seq')],
  ['sync_restore_folder', { path: 'a', at: '2026-11-01T00:00:00Z' }, 'path', ONE_OF('folder')],
  ['sync_restore_folder', { at: 'yesterday' }, 'at', '2026-11-20T18:00:00Z'],
  ['sync_pending_conflicts', { path: '/a.md' }, 'path', 'without a leading /: a.md'],
  ['sync_resolve_conflict', { conflict: 'x', keep: 'yours' }, 'conflict', ONE_OF('conflict_id')],
  ['sync_resolve_conflict', { conflict_id: 'x', keep: 'mine' }, 'keep', 'one of theirs, yours'],
  ['signup_and_get_key', { username: 'a@example.org', password: 'long enough' }, 'username', ONE_OF('email')],
  ['login_and_get_key', { email: 'a@example.org', pass: 'long enough' }, 'pass', ONE_OF('password')],
  ['get_setup_guide', { client: 'Claude Code' }, 'client', ONE_OF('claude-code')],
  ['read', { path: 'notes/today.md' }, 'path', ONE_OF('id')],
  ['read', { id: 'cairn://nowhere/1' }, 'id', 'cairn://docs/{category}/{title}'],
  ['edit', { id: 'style.md', old_string: 'x', new: 'y' }, 'old_string', ONE_OF('old')],
  ['write', { id: 'a.md', text: 'x' }, 'text', ONE_OF('content')],
  ['list', { folder: 'notes' }, 'folder', ONE_OF('in')],
  ['move', { id: 'a.md', destination: 'b.md' }, 'destination', ONE_OF('to')],
  ['remove', { path: 'a.md' }, 'path', ONE_OF('id')],
  ['remove', {}, 'ids', 'ids is required'],
  ['history', { path: 'a.md' }, 'path', ONE_OF('id')],
  ['restore', { id: 'a.md', seq: 1 }, 'seq', ONE_OF('version')],
  ['settle_conflict', { id: 'cairn://conflicts/x', keep: 'theirs' }, 'keep', 'one of current, pushed'],
  ['start_session', { topic: 'x' }, 'topic', 'known fields: project'],
  ['remember', { text: 'x' }, 'text', ONE_OF('fact')],
  ['recall', { search: 'x' }, 'search', ONE_OF('query')],
  ['add_tasks', { items: [{ content: 'x' }] }, 'items', ONE_OF('tasks')],
  ['change_tasks', { tasks: 1 }, 'tasks', 'must be a list'],
  ['write', { path: 'a.md', content: 'x' }, 'path', ONE_OF('id')],
  ['read', { paths: ['a.md'] }, 'paths', ONE_OF('ids')],
  ['read', { id: 'a.md', offset: 40, limit: 20 }, 'offset', ONE_OF('lines')],
  ['move', { from: 'a.md', to: 'b.md' }, 'from', ONE_OF('id')],
  ['search', { query: 'x', type: 'task' }, 'type', ONE_OF('in')],
  ['search', { query: 'x', in: 'note' }, 'in', 'did you mean file?'],
  ['settle_conflict', { id: 'cairn://conflicts/x', keep: 'mine' }, 'keep', 'did you mean pushed?'],
  ['list_tasks', { due_before: '2026-12-01' }, 'due_before', ONE_OF('due_to')],
  ['list_tasks', { category: 'Nowhere' }, 'category', 'list_categories lists all'],
];

test.each(refused)(
  '[TOOL-5, RPC-6] %s %j is refused, and the message leads to the right call',
  async (name, args, field, hint) => {
    const { error } = await callTool(hub, name, args, owner.mcp_key);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(hint) });
    expect(Object.keys((error?.data?.['errors'] ?? {}) as object)).toContain(field);
  },
);

test('[TOOL-5] every tool has a wrong call in this table', () => {
  expect(new Set(refused.map(([name]) => name))).toEqual(new Set(schemas.keys()));
});

test('[TOOL-5] a vault that was meant by its name is named by its id', async () => {
  const { error } = await callTool(hub, 'sync_list', { vault_id: 'Notes' }, owner.mcp_key);
  expect(error?.message).toContain(`${vaultId}; send that`);
});

test('[TOOL-5] an id of nothing names the tool that lists ids, and what is in the trash says how to bring it back', async () => {
  const call = async (name: string, args: object) => (await callTool(hub, name, args, owner.mcp_key)).error?.message;
  for (const [what, thing, create, title] of [
    ['task', 'task', 'create_task', {}],
    ['paper', 'paper', 'create_paper', { title: 'x' }],
    ['dev doc', 'dev_doc', 'create_dev_doc', { title: 'gone.md' }],
  ] as const) {
    expect(await call(`update_${thing}`, { id: 4711, content: 'x' })).toBe(
      `${what} not found; list_${thing}s lists all`,
    );
    const made = await structured<{ id?: number; task?: { id: number } }>(
      hub,
      create,
      { content: 'x', ...title },
      owner.mcp_key,
    );
    const id = made.task?.id ?? made.id ?? Object.values(made as Record<string, { id: number }>)[0]?.id;
    await structured(hub, `delete_${thing}`, { id }, owner.mcp_key);
    expect(await call(`update_${thing}`, { id, content: 'y' })).toBe(
      `${what} not found; it is in the trash; update_${thing} with restore: true brings it back`,
    );
  }
  expect(await call('delete_category', { id: 4711 })).toBe('category not found; list_categories lists all');
});

test('[TOOL-5] null for what must be given, and for a field that null clears, keeps its meaning', async () => {
  const call = (name: string, args: object) => callTool(hub, name, args, owner.mcp_key);
  expect((await call('create_task', { content: null })).error?.message).toBe('content must be a string');
  const made = await structured<{ task: { id: number } }>(
    hub,
    'create_task',
    { content: 'x', due_date: '2026-12-01', is_important: 'true' },
    owner.mcp_key,
  );
  const { task } = await structured<{ task: object }>(
    hub,
    'update_task',
    { id: String(made.task.id), content: null, due_date: null, is_important: null },
    owner.mcp_key,
  );
  expect(task).toMatchObject({ content: 'x', due_date: null, is_important: true });
});

test('[TOOL-5] text that is not exactly the value is refused, and text stays text', async () => {
  const call = async (name: string, args: object) =>
    (await callTool(hub, name, args, owner.mcp_key)).error?.data?.['field'];
  for (const limit of ['5 ', '5.0', '0x5', '1e1', '', 'five'])
    expect(await call('list_tasks', { limit })).toBe('limit');
  for (const paths of ['["a"', '{}', '']) expect(await call('sync_pull', { paths })).toBe('paths');
  const { task } = await structured<{ task: object }>(hub, 'create_task', { content: '["a"]' }, owner.mcp_key);
  expect(task).toMatchObject({ content: '["a"]' });
});

const unknownTools = [
  ['mcp__cairn__list_tasks', 'list_tasks'],
  ['cairn:sync_pull', 'sync_pull'],
  ['listTasks', 'list_tasks'],
  ['save_handoff', 'handoff_save'],
  ['complete_task', 'update_task'],
  ['get_task', 'list_tasks'],
  ['read_document', 'read'],
  ['read_file', 'read'],
  ['list_handoffs', 'did you mean handoff_list?'],
  ['create_vault', 'did you mean vault_create?'],
] as const;

test.each(unknownTools)('[TOOL-5] the unknown tool %s leads to %s', async (name, meant) => {
  const { error } = await callTool(hub, name, {}, owner.mcp_key);
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(meant), data: { field: 'name' } });
});

const unknownAt = (door: string, name: string) => callAsClient(hub, { door, key: owner.mcp_key }, name);

const unlisted = [
  ['list_handoffs', 'did you mean list with in "handoffs"?'],
  ['vault_lst', 'did you mean list with in "vaults"?'],
  ['get_task', 'did you mean list_tasks or add_tasks or change_tasks?'],
  ['update_doc', 'did you mean edit?'],
  ['create_note', 'did you mean write?'],
  ['rename_document', 'did you mean move?'],
  ['forget', 'did you mean remove?'],
  ['publish_papers', 'did you mean list with in "papers"?'],
  ['delete_file', 'did you mean remove?'],
] as const;

test.each(unlisted)(
  '[TOOL-5] at the door for models, the unknown tool %s leads to tools of its list',
  async (name, meant) => {
    const { error } = await unknownAt('/mcp', name);
    expect(error).toMatchObject({ code: -32602, message: `unknown tool ${name}; ${meant}` });
  },
);

test('[TOOL-5] at the door for programs, an unknown tool leads to tools of its list', async () => {
  const { error } = await unknownAt('/api/mcp', 'read_file');
  expect(error?.message).toContain('did you mean vault_sync or sync_push or');
  expect(error?.message).not.toMatch(/\b(read|edit|write)\b(?!_)/);
});
