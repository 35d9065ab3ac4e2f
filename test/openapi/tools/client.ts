/** A client of the hub whose types are generated from its OpenAPI document: compiles, and makes a round trip of all of it. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { equal, type Hub, RoundTrip, type RoundTripOptions, taken } from './round-trip.js';
import type { components } from './schema.js';

type Task = components['schemas']['Task'];

/** Signs up, calls every tool and every operation, and holds what comes back against what went there. */
export async function runRoundTrip(options: RoundTripOptions): Promise<void> {
  const trip = new RoundTrip(options);
  const anonymous = trip.client();
  const email = `${randomBytes(6).toString('hex')}@example.org`;
  let key = '';
  await trip.step('onboarding tools', async () => {
    key = await signUp(anonymous, email);
  });
  const account = trip.client(`McpKey ${key}`);
  const rest = trip.client(`Bearer ${await options.accessToken(email)}`);
  await trip.step('probes', () => probes(anonymous));
  await trip.step('account', async () => equal(taken(await account.GET('/api/account')).email, email, 'email'));
  await trip.step('signing in devices', () => devices(anonymous));
  await trip.step('categories', () => categories(rest));
  await trip.step('tasks', () => tasks(rest));
  await trip.step('papers', () => papers(rest));
  await trip.step('task tools', () => taskTools(account, rest));
  await trip.step('category tools', () => categoryTools(account));
  await trip.step('paper tools', () => paperTools(account));
  await trip.step('dev doc tools', () => devDocTools(account));
  await trip.step('sync tools', () => syncTools(account));
  await trip.step('chunks of large files', () => chunks(account, trip.client(`McpKey ${key}`, true)));
  await trip.step('handoff tools', () => handoffTools(account));
  await trip.step('tools of models', () => modelTools(account));
  await trip.step('webhooks', () => webhooks(account));
  await trip.step('gateway', () => gateway(account));
  await trip.step('mirror', () => mirror(trip, account));
  if (options.hubUrl === undefined) await trip.step('typed refusals', () => refusals(rest));
  await trip.step('time zone, and the end of the account', () => endOfAccount(account));
  await trip.step('every operation of the document was called', async () => {
    const document = taken(await anonymous.GET('/api/mcp/openapi.json'));
    trip.checkAllCalled(document.paths);
  });
}

const PASSWORD = 'correct horse';

async function signUp(hub: Hub, email: string): Promise<string> {
  const password = PASSWORD;
  const made = taken(await hub.POST('/api/mcp/tools/signup_and_get_key', { body: { email, password } }));
  equal(made.email, email, 'email');
  const again = taken(await hub.POST('/api/mcp/tools/login_and_get_key', { body: { email, password } }));
  equal(again.account_id, made.account_id, 'account');
  const guide = taken(await hub.POST('/api/mcp/tools/get_setup_guide', { body: { client: 'http' } }));
  equal(guide.steps.length, 1, 'steps');
  return again.mcp_key;
}

async function probes(hub: Hub): Promise<void> {
  equal(taken(await hub.GET('/health')).status, 'ok', 'health');
  equal(taken(await hub.GET('/ready')).status, 'ready', 'ready');
  const { issuer } = taken(await hub.GET('/.well-known/oauth-authorization-server'));
  const resources = [
    taken(await hub.GET('/.well-known/oauth-protected-resource')),
    taken(await hub.GET('/.well-known/oauth-protected-resource/api/mcp')),
    taken(await hub.GET('/.well-known/oauth-protected-resource/mcp')),
  ];
  for (const { authorization_servers: servers } of resources) equal(servers, [issuer], 'authorization servers');
}

/** Asks, is told to wait, and lets go of a token; nobody approves here. */
async function devices(hub: Hub): Promise<void> {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const bodySerializer = (body: object) => new URLSearchParams(body as Record<string, string>).toString();
  const body = { client_id: 'typed client' };
  const codes = taken(await hub.POST('/oauth/device_authorization', { body, headers, bodySerializer }));
  equal(codes.interval, 5, 'interval');
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const poll = { ...body, grant_type, device_code: codes.device_code } as const;
  const refused = await hub.POST('/oauth/token', { body: poll, headers, bodySerializer });
  const redirects = { redirect_uris: ['http://127.0.0.1/callback'], client_name: 'typed client' };
  equal(taken(await hub.POST('/oauth/register', { body: redirects })).redirect_uris, redirects.redirect_uris, 'client');
  equal(refused.error?.error, 'authorization_pending', 'error');
  const revoked = await hub.POST('/oauth/revoke', { body: { token: 'crt_unknown' }, headers, bodySerializer });
  equal(revoked.response.status, 200, 'status');
}

async function categories(hub: Hub): Promise<void> {
  const made = taken(await hub.POST('/api/categories', { body: { name: 'Work', color: '#1f6feb' } }));
  const path = { id: made.id };
  equal(taken(await hub.GET('/api/categories/{id}', { params: { path } })), made, 'category');
  const changed = taken(await hub.PATCH('/api/categories/{id}', { params: { path }, body: { color: null } }));
  equal(changed.color, null, 'color');
  equal(taken(await hub.GET('/api/categories')).data, [changed], 'list');
  const gone = await hub.DELETE('/api/categories/{id}', { params: { path } });
  equal(gone.response.status, 204, 'status');
}

async function tasks(hub: Hub): Promise<void> {
  const body = { content: 'Grüße 😀', due_date: '2026-12-01', is_important: true };
  const made: Task = taken(await hub.POST('/api/tasks', { body }));
  const path = { id: made.id };
  equal(taken(await hub.GET('/api/tasks/{id}', { params: { path } })), made, 'task');
  const done = taken(await hub.PATCH('/api/tasks/{id}', { params: { path }, body: { kanban_status: 'done' } }));
  equal(done.completed, true, 'completed');
  const query = { completed: true, sort_by: 'due_date', per_page: 10 } as const;
  const page = taken(await hub.GET('/api/tasks', { params: { query } }));
  equal(page, { data: [done], meta: { page: 1, per_page: 10, total: 1, total_pages: 1 } }, 'page');
  const gone = await hub.DELETE('/api/tasks/{id}', { params: { path } });
  equal(gone.response.status, 204, 'status');
}

async function papers(hub: Hub): Promise<void> {
  const body = { title: 'On cairns', content: '# Grüße 😀' };
  const made = taken(await hub.POST('/api/papers', { body }));
  const path = { id: made.id };
  equal(taken(await hub.GET('/api/papers/{id}', { params: { path } })), made, 'paper');
  const change = { content: 'x', expected_version: 1 };
  equal(taken(await hub.PATCH('/api/papers/{id}', { params: { path }, body: change })).version, 2, 'version');
  const stale = await hub.PATCH('/api/papers/{id}', { params: { path }, body: change });
  equal([stale.response.status, typeof stale.error?.error], [409, 'string'], 'stale');
  const published = taken(await hub.PATCH('/api/papers/{id}/publish', { params: { path }, body: { published: true } }));
  const query = { published: true, include_content: true } as const;
  equal(taken(await hub.GET('/api/papers', { params: { query } })).data, [published], 'list');
  const gone = await hub.DELETE('/api/papers/{id}', { params: { path } });
  equal(gone.response.status, 204, 'status');
}

async function categoryTools(hub: Hub): Promise<void> {
  const body = { name: 'Home', color: '#3366cc' };
  const made = taken(await hub.POST('/api/mcp/tools/create_category', { body })).category;
  const changed = taken(await hub.POST('/api/mcp/tools/update_category', { body: { id: made.id, name: 'Work' } }));
  equal([changed.category.name, changed.category.color], ['Work', body.color], 'category');
  const gone = taken(await hub.POST('/api/mcp/tools/delete_category', { body: { id: made.id } }));
  equal(gone, { id: made.id, status: 'deleted' }, 'deleted');
}

async function paperTools(hub: Hub): Promise<void> {
  const body = { title: 'On tools', content: '# Grüße 😀' };
  const { id } = taken(await hub.POST('/api/mcp/tools/create_paper', { body })).paper;
  const change = { id, content: 'x', expected_version: 1 };
  equal(taken(await hub.POST('/api/mcp/tools/update_paper', { body: change })).paper.version, 2, 'version');
  equal(taken(await hub.POST('/api/mcp/tools/get_paper', { body: { id } })).paper.content, 'x', 'content');
  taken(await hub.POST('/api/mcp/tools/publish_paper', { body: { id } }));
  const listed = taken(await hub.POST('/api/mcp/tools/list_papers', { body: { published: true } }));
  equal(
    listed.papers.map((paper) => paper.id),
    [id],
    'list',
  );
  equal(taken(await hub.POST('/api/mcp/tools/delete_paper', { body: { id } })).id, id, 'deleted');
}

/** Last of all: afterwards the account is gone. */
async function endOfAccount(hub: Hub): Promise<void> {
  const zone = taken(await hub.POST('/api/mcp/tools/set_timezone', { body: { timezone: 'Asia/Seoul' } }));
  equal(zone.timezone, 'Asia/Seoul', 'zone');
  equal(
    taken(await hub.PATCH('/api/account', { body: { timezone: 'Europe/Berlin' } })).timezone,
    'Europe/Berlin',
    'zone',
  );
  const wrong = await hub.DELETE('/api/account', { body: { password: 'not this one' } });
  equal(wrong.response.ok, false, 'a wrong password deletes nothing');
  const gone = await hub.DELETE('/api/account', { body: { password: PASSWORD } });
  equal(gone.response.ok, true, 'the account is deleted');
}

async function taskTools(hub: Hub, rest: Hub): Promise<void> {
  const body = { content: 'Renew the certificate' };
  const { task } = taken(await hub.POST('/api/mcp/tools/create_task', { body }));
  const path = { id: task.id };
  equal(taken(await rest.GET('/api/tasks/{id}', { params: { path } })), task, 'the same task on both doors');
  const listed = taken(await hub.POST('/api/mcp/tools/list_tasks', { body: { search: 'CERTIFICATE' } }));
  equal(listed.tasks, [task], 'tasks');
  const deleted = taken(await hub.POST('/api/mcp/tools/delete_task', { body: path }));
  equal(deleted.id, task.id, 'id');
  const restored = taken(await hub.POST('/api/mcp/tools/update_task', { body: { ...path, restore: true } }));
  equal(restored.task.content, body.content, 'content');
  equal(taken(await hub.POST('/api/mcp/tools/list_categories', { body: {} })).categories, [], 'categories');
}

async function devDocTools(hub: Hub): Promise<void> {
  const body = { title: 'CLAUDE.md', category: 'claude', content: '# Grüße 😀\n' };
  const { doc } = taken(await hub.POST('/api/mcp/tools/create_dev_doc', { body }));
  equal([doc.title, doc.content_type, doc.version], ['CLAUDE.md', 'markdown', 1], 'doc');
  const pulled = taken(await hub.POST('/api/mcp/tools/pull_dev_docs', { body: { category: 'claude' } }));
  if (typeof pulled === 'string') throw new Error('a small pull came as lines');
  equal(pulled.docs, [{ type: 'doc', ...doc, content: body.content }], 'docs');
  const more = { id: doc.id, content: 'Tests first.\n', mode: 'append', expected_version: 1 } as const;
  const updated = taken(await hub.POST('/api/mcp/tools/update_dev_doc', { body: more }));
  equal(updated.doc.version, 2, 'version');
  const stale = await hub.POST('/api/mcp/tools/update_dev_doc', { body: more });
  equal([stale.response.status, stale.error?.code, stale.error?.data?.['current_version']], [409, -32006, 2], 'stale');
  const read = taken(
    await hub.POST('/api/mcp/tools/get_dev_doc', { body: { title: 'claude.md', include_versions: true } }),
  );
  equal(read.doc.content, `${body.content}${more.content}`, 'content');
  equal(
    read.versions?.map(({ version }) => version),
    [2, 1],
    'versions',
  );
  const listed = taken(await hub.POST('/api/mcp/tools/list_dev_docs', { body: { search: 'GRÜSSE' } }));
  equal([listed.docs, listed.cursor], [[], null], 'nothing is found');
  const found = taken(await hub.POST('/api/mcp/tools/list_dev_docs', { body: { search: 'tests FIRST' } }));
  equal(found.docs, [updated.doc], 'found');
  equal(taken(await hub.POST('/api/mcp/tools/delete_dev_doc', { body: { id: doc.id } })).id, doc.id, 'id');
  const { categories: kinds } = taken(await hub.POST('/api/mcp/tools/list_dev_categories', { body: {} }));
  equal(
    kinds.every(({ doc_count: count }) => count === 0),
    true,
    'empty categories',
  );
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function syncTools(hub: Hub): Promise<void> {
  const vault = taken(await hub.POST('/api/mcp/tools/vault_create', { body: { name: 'notes' } }));
  equal(vault.status, 'created', 'vault');
  const content = 'Grüße 😀';
  const sha256 = hashOf(content);
  const hlc = '2026-11-20T20:18:57.123Z-0000-89e4f1c2a0b3d756';
  const body = { path: 'a.md', content, sha256, hlc, device_id: 'laptop', vault_id: vault.vault_id };
  const pushed = taken(await hub.POST('/api/mcp/tools/sync_push', { body }));
  equal([pushed.sha256, pushed.hlc, pushed.seq, pushed.status], [sha256, hlc, 1, 'created'], 'pushed');
  const device = { device_id: 'phone', vault_id: vault.vault_id };
  const clone = taken(await hub.POST('/api/mcp/tools/vault_clone', { body: { name: 'NOTES', device_id: 'phone' } }));
  equal([clone.file_count, clone.next.tool, clone.vault_id], [1, 'sync_pull', vault.vault_id], 'clone');
  const connection = taken(await hub.POST('/api/mcp/tools/vault_connect_status', { body: device }));
  equal([connection.connected, connection.seq, connection.devices], [false, 1, []], 'connection');
  const asked = { action: 'status', manifest: { 'b.md': sha256 }, vault_id: vault.vault_id } as const;
  const standing = taken(await hub.POST('/api/mcp/tools/vault_sync', { body: asked }));
  if (typeof standing === 'string') throw new Error('a standing came as lines');
  const toDo = [standing.pull, standing.push].map((files) => files?.map(({ path }) => path));
  equal(toDo, [['a.md'], ['b.md']], 'standing');
  const pulled = taken(
    await hub.POST('/api/mcp/tools/sync_pull', { body: { initial: true, vault_id: vault.vault_id } }),
  );
  if (typeof pulled === 'string') throw new Error('a small pull came as lines');
  equal([pulled.files?.map((file) => file.content), pulled.has_more], [[content], false], 'pulled');
  const listed = taken(
    await hub.POST('/api/mcp/tools/sync_list', { body: { glob: '*.md', vault_id: vault.vault_id } }),
  );
  equal([listed.files.map(({ path }) => path), listed.total_count], [['a.md'], 1], 'listed');
  const own = { path: 'a.md', content: `${content}\n`, base_sha: sha256, vault_id: vault.vault_id };
  const compared = taken(await hub.POST('/api/mcp/tools/sync_diff', { body: own }));
  equal([compared.status, compared.remote?.sha256], ['local_ahead', sha256], 'compared');
  const merged = taken(await hub.POST('/api/mcp/tools/sync_merge', { body: own }));
  equal([merged.content, merged.has_conflicts, merged.base_sha], [own.content, false, sha256], 'merged');
  const place = { path: 'a.md', vault_id: vault.vault_id };
  const changed = await hub.POST('/api/mcp/tools/sync_push', { body: { ...body, content: 'x', sha256: hashOf('x') } });
  equal(changed.response.status, 409, 'status of a conflict');
  const pending = taken(await hub.POST('/api/mcp/tools/sync_pending_conflicts', { body: place }));
  equal([pending.count, pending.conflicts[0]?.your_sha256], [1, hashOf('x')], 'pending');
  const choice = { ...place, keep: 'yours' as const };
  const settled = taken(await hub.POST('/api/mcp/tools/sync_resolve_conflict', { body: choice }));
  equal([settled.status, settled.current_sha256], ['resolved', hashOf('x')], 'settled');
  const back = taken(await hub.POST('/api/mcp/tools/sync_restore', { body: { ...place, seq: 1 } }));
  equal([back.status, back.sha256], ['restored', sha256], 'restored');
  const history = taken(await hub.POST('/api/mcp/tools/sync_history', { body: place }));
  equal(
    history.versions.map(({ status }) => status),
    ['restored', 'updated', 'created'],
    'history',
  );
  const { vaults } = taken(await hub.POST('/api/mcp/tools/vault_list', { body: {} }));
  equal(
    vaults.map((one) => [one.vault_id, one.file_count]),
    [[vault.vault_id, 1]],
    'vaults',
  );
  await vaultTools(hub, vault.vault_id);
}

/** Many files at once, a folder at a time, another name, and the end of the vault. */
/** `raw`: a client whose bodies arrive as they are. */
async function chunks(hub: Hub, raw: Hub): Promise<void> {
  const vault = taken(await hub.POST('/api/mcp/tools/vault_create', { body: { name: 'films' } }));
  const bytes = randomBytes(300_000);
  const hash = createHash('sha256').update(bytes).digest('hex');
  const vault_id = vault.vault_id;
  const missing = async () =>
    taken(
      await hub.POST('/api/vaults/{vault_id}/chunks', { params: { path: { vault_id } }, body: { sha256: [hash] } }),
    );
  equal((await missing()).missing, [hash], 'missing');
  const path = { vault_id, hash };
  const headers = { 'Content-Type': 'application/octet-stream' };
  const sent = { params: { path }, headers, body: bytes, bodySerializer: () => bytes };
  equal(taken(await raw.PUT('/api/vaults/{vault_id}/chunks/{hash}', sent)).status, 'stored', 'sent');
  equal(taken(await raw.PUT('/api/vaults/{vault_id}/chunks/{hash}', sent)).status, 'known', 'sent again');
  equal((await missing()).missing, [], 'missing');
  const read = await raw.GET('/api/vaults/{vault_id}/chunks/{hash}', { params: { path }, parseAs: 'arrayBuffer' });
  equal(Buffer.from(taken(read) as ArrayBuffer).equals(bytes), true, 'bytes');
}

async function vaultTools(hub: Hub, vault_id: string): Promise<void> {
  const file = { path: 'many/a.md', content: 'one', sha256: hashOf('one'), base_sha: '' };
  const many = taken(
    await hub.POST('/api/mcp/tools/sync_push_many', { body: { vault_id, device_id: 'laptop', files: [file] } }),
  );
  equal([many.accepted, many.refused, many.results.map(({ path }) => path)], [1, 0, [file.path]], 'pushed many');
  const at = new Date(0).toISOString();
  const asOf = { vault_id, folder: 'many', at, dry_run: true };
  const planned = taken(await hub.POST('/api/mcp/tools/sync_restore_folder', { body: asOf }));
  equal([planned.restored, planned.deleted], [[], [file.path]], 'a folder as it was');
  const renamed = taken(await hub.POST('/api/mcp/tools/vault_rename', { body: { vault_id, name: 'journal' } }));
  equal([renamed.former_name, renamed.name], ['notes', 'journal'], 'renamed');
  const kept = await hub.POST('/api/mcp/tools/vault_delete', { body: { vault_id, confirm: 'notes' } });
  equal(kept.response.status, 422, 'another word deletes nothing');
  const gone = taken(await hub.POST('/api/mcp/tools/vault_delete', { body: { vault_id, confirm: 'journal' } }));
  equal([gone.status, gone.file_count], ['deleted', 2], 'deleted');
}

async function handoffTools(hub: Hub): Promise<void> {
  const name = { project: 'cairn', topic: 'release' };
  const body = { ...name, content: 'Alles grün 😀', date: '2026-11-20', time: '0930' };
  const { handoff } = taken(await hub.POST('/api/mcp/tools/handoff_save', { body }));
  equal([handoff.date, handoff.time, handoff.version], ['2026-11-20', '0930', 1], 'handoff');
  const { handoffs } = taken(await hub.POST('/api/mcp/tools/handoff_list', { body: { project: 'cairn' } }));
  equal(handoffs, [{ ...handoff, preview: body.content }], 'handoffs');
  const read = taken(await hub.POST('/api/mcp/tools/handoff_get', { body: name }));
  equal(read, { handoff: { ...handoff, content: body.content }, current_version: 1 }, 'read');
  const none = await hub.POST('/api/mcp/tools/handoff_get', { body: { ...name, topic: 'none' } });
  equal([none.response.status, none.error?.code], [404, -32005], 'none');
}

async function modelTools(hub: Hub): Promise<void> {
  taken(await hub.POST('/api/mcp/tools/start_session', { body: {} }));
  const [id, to] = ['models/note.md', 'models/moved.md'];
  taken(await hub.POST('/api/mcp/tools/write', { body: { id, content: '# Orchids\n\nOne.\n' } }));
  taken(await hub.POST('/api/mcp/tools/edit', { body: { id, old: 'One', new: 'Two' } }));
  taken(await hub.POST('/api/mcp/tools/read', { body: { id } }));
  taken(await hub.POST('/api/mcp/tools/history', { body: { id } }));
  taken(await hub.POST('/api/mcp/tools/move', { body: { id, to } }));
  taken(await hub.POST('/api/mcp/tools/list', { body: { in: 'models/' } }));
  taken(await hub.POST('/api/mcp/tools/remove', { body: { ids: [to] } }));
  taken(await hub.POST('/api/mcp/tools/restore', { body: { id: to } }));
  taken(await hub.POST('/api/mcp/tools/add_tasks', { body: { tasks: [{ content: 'Repot the orchid' }] } }));
  const search = 'Repot the orchid';
  const { tasks: made } = taken(await hub.POST('/api/mcp/tools/list_tasks', { body: { search } }));
  const done = { tasks: [{ id: made[0]?.id ?? 0, completed: true }] };
  taken(await hub.POST('/api/mcp/tools/change_tasks', { body: done }));
  taken(await hub.POST('/api/mcp/tools/remember', { body: { fact: 'Orchids like shade' } }));
  taken(await hub.POST('/api/mcp/tools/recall', { body: { query: 'orchids' } }));
  const query = 'orchid';
  taken(await hub.POST('/api/mcp/tools/search', { body: { query } }));
  const { results } = taken(await hub.GET('/api/search', { params: { query: { query } } }));
  const found = { id: results[0]?.id ?? '' };
  const one = taken(await hub.GET('/api/fetch', { params: { query: found } }));
  equal(taken(await hub.POST('/api/mcp/tools/fetch', { body: found })).id, one.id, 'what was found');
  const { events, cursor } = taken(await hub.GET('/api/events', { params: { query: { kinds: 'task' } } }));
  equal(events.at(-1)?.kind, 'task', 'the newest event');
  equal(
    taken(await hub.GET('/api/events', { params: { query: { after: cursor } } })).events.length,
    0,
    'no more events',
  );
  const none = { id: 'cairn://conflicts/none', keep: 'current' } as const;
  equal((await hub.POST('/api/mcp/tools/settle_conflict', { body: none })).response.ok, false, 'no conflict');
}

async function webhooks(hub: Hub): Promise<void> {
  const { id } = taken(await hub.POST('/api/webhooks', { body: { url: 'https://hooks.example.org/', kinds: null } }));
  const one = { params: { path: { id } } };
  taken(await hub.PATCH('/api/webhooks/{id}', { ...one, body: { enabled: false } }));
  taken(await hub.POST('/api/webhooks/{id}/secret', one));
  const { webhooks: all } = taken(await hub.GET('/api/webhooks'));
  equal(all, [taken(await hub.GET('/api/webhooks/{id}', one))], 'webhooks');
  taken(await hub.DELETE('/api/webhooks/{id}', one));
}

async function gateway(hub: Hub): Promise<void> {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' } as const;
  const one = taken(await hub.POST('/api/mcp', { body: list }));
  const signedIn = taken(await hub.POST('/mcp', { body: list }));
  equal(typeof signedIn === 'object' && 'result' in signedIn, true, 'those who sign in are answered');
  if (typeof one !== 'object' || Array.isArray(one) || !('result' in one)) throw new Error('tools/list was refused');
  equal(one.id, 1, 'id');
  const call = { ...list, id: 'two', method: 'tools/call', params: { name: 'list_tasks', arguments: {} } };
  const batch = taken(await hub.POST('/api/mcp', { body: [list, call] }));
  if (!Array.isArray(batch)) throw new Error('a batch was not answered by an array');
  equal(batch.map(({ id }) => String(id)).sort(), ['1', 'two'], 'ids');
}

async function mirror(trip: RoundTrip, account: Hub): Promise<void> {
  const { token, hmac_secret: secret } = taken(await account.POST('/api/cert_mirror/credentials', { body: {} }));
  const hub = trip.client(`McpKey ${token}`);
  const archives = trip.client(`McpKey ${token}`, true);
  const bytes = randomBytes(100_000);
  const sha = randomBytes(20).toString('hex');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const signature = createHmac('sha256', secret ?? '')
    .update(bytes)
    .digest('hex');
  const header = { 'X-Commit-Sha': sha, 'X-Tarball-Sha256': sha256, 'X-Mirror-Signature': `sha256=${signature}` };
  const stored = taken(
    await archives.POST('/api/cert_mirror', {
      params: { header },
      headers: { 'Content-Type': 'application/octet-stream' },
      body: bytes,
      bodySerializer: () => bytes,
    }),
  );
  equal([stored.commit_sha, stored.sha256, stored.byte_size], [sha, sha256, bytes.length], 'stored');
  const ungrouped = { repository_id: null, repository_label: null, base_sha256: null, archive_kind: null };
  equal(taken(await hub.GET('/api/cert_mirror')).blobs, [{ ...stored, uploaded_by: null, ...ungrouped }], 'blobs');
  equal(taken(await hub.GET('/api/cert_mirror/latest')).commit_sha, sha, 'latest');
  const path = { sha };
  const whole = await archives.GET('/api/cert_mirror/{sha}/download', { params: { path }, parseAs: 'arrayBuffer' });
  equal(bytes.equals(Buffer.from(taken(whole))), true, 'the same bytes');
  const params = { path, header: { Range: 'bytes=0-9' } };
  const part = await archives.GET('/api/cert_mirror/{sha}/download', { params, parseAs: 'arrayBuffer' });
  equal(bytes.subarray(0, 10).equals(Buffer.from(taken(part))), true, 'the first ten bytes');
  equal(taken(await hub.GET('/api/cert_mirror/repositories')).repositories.length, 1, 'repositories');
  const query = { repository_id: '0'.repeat(64) };
  equal(taken(await hub.GET('/api/cert_mirror/uploads', { params: { query } })).blobs, [], 'uploads');
  const headless = await hub.GET('/api/cert_mirror/{sha}/header', { params: { path } });
  equal(headless.response.status, 404, 'an archive that is not in the age format');
  const newest = { archives: [{ commit_sha: sha, sha256 }] };
  equal((await hub.POST('/api/cert_mirror/removals', { body: newest })).response.status, 422, 'the newest stays');
  const drill = { repository_id: 'unknown', commit_sha: sha, sha256, outcome: 'proven' } as const;
  equal(taken(await hub.POST('/api/cert_mirror/drills', { body: drill })).outcome, 'proven', 'drill');
  equal(taken(await hub.GET('/api/cert_mirror/drills')).drills.length, 1, 'drills');
  taken(await account.POST('/api/mcp/tools/list_backups', { body: {} }));
  const ci = taken(await account.POST('/api/cert_mirror/credentials/uploaders', { body: { name: 'ci' } }));
  equal(taken(await account.GET('/api/cert_mirror/credentials/uploaders')).uploaders.length, 1, 'uploaders');
  const ended = await account.DELETE('/api/cert_mirror/credentials/uploaders/{id}', {
    params: { path: { id: ci.id } },
  });
  equal(ended.response.status, 204, 'status');
  equal(taken(await account.GET('/api/cert_mirror/credentials')).archives_readable, 1, 'readable');
  equal(taken(await account.POST('/api/cert_mirror/credentials/rotation', { body: {} })).archives_kept, 1, 'kept');
  equal(taken(await account.DELETE('/api/cert_mirror/credentials')).status, 'deleted', 'status');
}

/** What the types refuse, the hub refuses as well, and its answer has a type. */
async function refusals(hub: Hub): Promise<void> {
  // @ts-expect-error content is required
  const missing = await hub.POST('/api/tasks', { body: { due_date: '2026-12-01' } });
  equal(missing.error?.errors?.['content'], ['content is required'], 'errors');
  const { id }: Task = taken(await hub.POST('/api/tasks', { body: { content: 'refused' } }));
  // @ts-expect-error there is no such column
  const column = await hub.PATCH('/api/tasks/{id}', { params: { path: { id } }, body: { kanban_status: 'later' } });
  equal(column.response.status, 422, 'status');
  const unknown = await hub.GET('/api/tasks/{id}', { params: { path: { id: 4711 } } });
  equal(unknown.error?.error, 'task not found', 'error');
}
