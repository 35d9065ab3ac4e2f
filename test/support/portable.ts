/** An account with something of everything in it, what a hub tells of one, and the two commands that carry it over. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allTables } from '../../src/compose/tables.ts';
import { Store } from '../../src/store/store.ts';
import { accessToken, structured } from './gateway.ts';
import { call } from './http.ts';
import type { CommandResult, Hub } from './hub.ts';
import { account, type Credential, credential, get, randomCommit, upload } from './mirror.ts';
import { listAll } from './mirror-state.ts';
import { Device, sha256Of } from './sync.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Owner {
  readonly email: string;
  readonly mcp_key: string;
  readonly account_id: string;
}

export interface ImportedOwner extends Owner {
  readonly account_key: string;
  readonly mirror_token: string | null;
  readonly mirror_secret: string | null;
}

interface Manifest {
  readonly files: Readonly<
    Record<string, { readonly records: number; readonly bytes: number; readonly sha256: string }>
  >;
  readonly blobs: { readonly count: number; readonly bytes: number };
}

const SECTIONS = ['tasks', 'papers', 'docs', 'handoffs', 'mirror', 'vaults', 'activity'] as const;

export type Section = (typeof SECTIONS)[number];
export type Line = Record<string, unknown>;

/** Exports an account into a new folder. */
export async function exported(hub: Pick<Hub, 'cli'>, email: string): Promise<{ folder: string; manifest: Manifest }> {
  const folder = join(temporaryFolder(), 'archive');
  const done = await hub.cli('export', '--email', email, folder, '--json');
  if (done.code !== 0) throw new Error(`export ended with ${done.code}: ${done.stderr}`);
  return { folder, manifest: JSON.parse(done.stdout) as Manifest };
}

export const importInto = (hub: Pick<Hub, 'cli'>, folder: string, ...more: string[]): Promise<CommandResult> =>
  hub.cli('import', folder, '--json', ...more);

export async function imported(hub: Pick<Hub, 'cli'>, folder: string, ...more: string[]): Promise<ImportedOwner> {
  const done = await importInto(hub, folder, ...more);
  if (done.code !== 0) throw new Error(`import ended with ${done.code}: ${done.stderr}`);
  return JSON.parse(done.stdout) as ImportedOwner;
}

/** The files of records of an archive, as text. */
export const sectionsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(SECTIONS.map((name) => [name, readFileSync(join(folder, `${name}.ndjson`), 'utf8')]));

/** The records of a section. */
export const linesOf = (at: string, section: Section): Line[] =>
  readFileSync(join(at, `${section}.ndjson`), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** Writes a section again, and the manifest so that it fits. */
export function rewrite(at: string, section: Section, text: string): void {
  writeFileSync(join(at, `${section}.ndjson`), text);
  editManifest(at, (manifest) => {
    const records = text.split('\n').length - 1;
    const sha256 = createHash('sha256').update(text).digest('hex');
    (manifest['files'] as Record<string, Line>)[section] = { records, bytes: Buffer.byteLength(text), sha256 };
  });
}

export function editManifest(at: string, edit: (manifest: Line) => void): void {
  const path = join(at, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Line;
  edit(manifest);
  writeFileSync(path, JSON.stringify(manifest));
}

export const textOf = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** How many rows each table of a hub has, less what the data file notes of itself. */
export function rowsOf({ dataFolder: folder }: Pick<Hub, 'dataFolder'>): Record<string, number> {
  const store = new Store({ folder, tables: allTables, readOnly: true });
  const tables = store.stats().tables.filter(({ name }) => name !== 'meta');
  const rows = Object.fromEntries(tables.map((table) => [table.name, table.rows]));
  void store.close();
  return rows;
}

/** REST of one account, with a token of its own. */
export async function restOf(hub: Hub, { email }: Owner) {
  const token = await accessToken(hub, email);
  return async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const answer = await call(hub, path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.status === 204 ? {} : answer.json();
  };
}

export const toolsOf =
  (hub: Hub, { mcp_key: key }: Pick<Owner, 'mcp_key'>) =>
  <T = Record<string, unknown>>(name: string, args: object = {}): Promise<T> =>
    structured<T>(hub, name, args, key);

/** Makes an account and gives it something of everything. */
export async function fullAccount(hub: Hub): Promise<Owner> {
  const owner = await account(hub);
  await fill(hub, owner, [1, 65_537, 3 * 1024 * 1024 + 7]);
  return owner;
}

/** Gives an account something of everything; `blobBytes`: sizes of the blobs of one commit. Resolves with the mirror's credential. */
export async function fill(hub: Hub, owner: Owner, blobBytes: readonly number[]): Promise<Credential> {
  await fillTasks(hub, owner);
  await fillDocuments(hub, owner);
  const mirror = await fillMirror(hub, owner, blobBytes);
  await fillVaults(hub, owner);
  return mirror;
}

async function fillTasks(hub: Hub, owner: Owner): Promise<void> {
  const rest = await restOf(hub, owner);
  const [home, gone] = await Promise.all(
    ['Grüße', 'gone'].map(async (name) => Number((await rest('POST', '/api/categories', { name }))['id'])),
  );
  const tasks: object[] = [
    { content: 'plain' },
    { content: 'due 😀\n"quoted"', due_date: '2026-12-01', is_important: true, category_id: home },
    { content: 'done', completed: true, category_id: gone },
    { content: 'binned', category_id: gone, kanban_status: 'backlog' },
    { content: 'last, binned for good', due_date: '2020-02-29' },
  ];
  const ids: unknown[] = [];
  for (const task of tasks) ids.push((await rest('POST', '/api/tasks', task))['id']);
  for (const id of ids.slice(3)) await rest('DELETE', `/api/tasks/${String(id)}`);
  await rest('DELETE', `/api/categories/${gone}`);
  const [draft, binned] = await Promise.all(
    ['On cairns', 'Binned'].map((title) => rest('POST', '/api/papers', { title, content: `# ${title}\n` })),
  );
  await rest('PATCH', `/api/papers/${String(draft?.['id'])}`, { content: 'second 😀', category_id: home });
  await rest('POST', '/api/papers', { title: 'Published', published: true });
  await rest('DELETE', `/api/papers/${String(binned?.['id'])}`);
}

async function fillDocuments(hub: Hub, owner: Owner): Promise<void> {
  const tool = toolsOf(hub, owner);
  const made = await tool<{ doc: { id: number } }>('create_dev_doc', {
    title: 'CLAUDE.md',
    category: 'claude',
    content: '# Rules\n',
  });
  for (const content of ['Tests first.\n', 'Grüße 😀\n', 'x'.repeat(70_000)]) {
    await tool('update_dev_doc', { id: made.doc.id, content, mode: 'append' });
  }
  await tool('create_dev_doc', { title: 'own', category: 'mine', create_category: true, content: '' });
  for (const text of ['one', 'two']) {
    const doc = await tool<{ doc: { id: number } }>('create_dev_doc', { title: 'again.md', content: text });
    await tool('delete_dev_doc', { id: doc.doc.id });
  }
  const handoff = { project: 'Cairn', topic: 'Überblick', date: '2026-11-20' };
  for (const content of ['first', 'second', 'third\n'.repeat(100)]) await tool('handoff_save', { ...handoff, content });
  await tool('handoff_save', { ...handoff, time: '0930', content: 'at half past nine' });
}

async function fillMirror(hub: Hub, owner: Owner, blobBytes: readonly number[]): Promise<Credential> {
  const former = await credential(hub, owner.mcp_key);
  await uploaded(hub, former, randomCommit(), randomBytes(1000));
  const current = await credential(hub, owner.mcp_key, true);
  const commit = randomCommit();
  for (const bytes of blobBytes) await uploaded(hub, current, commit, randomBytes(bytes));
  return current;
}

async function uploaded(hub: Hub, who: Parameters<typeof upload>[1], commit: string, bytes: Buffer): Promise<void> {
  const answer = await upload(hub, who, commit, bytes);
  if (answer.status !== 200) throw new Error(`upload answered ${answer.status}: ${answer.text}`);
}

async function fillVaults(hub: Hub, owner: Owner): Promise<void> {
  const laptop = new Device(hub, owner.mcp_key, 'laptop');
  const phone = laptop.other('Telefon 😀');
  const first = await laptop.push('notes/Grüße.md', 'one\n');
  await laptop.push('notes/Grüße.md', 'two\n', { base_sha: first.sha256, mtime: '2026-11-01T10:00:00+01:00' });
  await laptop.result('sync_restore', { path: 'notes/Grüße.md', seq: first.seq });
  const long = `${'long line\n'.repeat(20_000)}end`;
  const big = await laptop.push('big.txt', long);
  const bigger = await laptop.push('big.txt', `${long}!`, { base_sha: big.sha256 });
  await laptop.result('sync_restore', { path: 'big.txt', seq: big.seq, base_sha: bigger.sha256 });
  const bytes = randomBytes(100_000);
  const binary = { encoding: 'base64', sha256: sha256Of(bytes) };
  await laptop.push('image.bin', bytes.toString('base64'), { ...binary, executable: true });
  const moved = await laptop.push('old/name.md', 'moves');
  await laptop.push('new/name.md', 'moves', { from_path: 'old/name.md', base_sha: moved.sha256 });
  const gone = await laptop.push('gone.md', 'gone');
  await laptop.result('sync_push', laptop.deleteOf('gone.md', { base_sha: gone.sha256 }));
  // Pending: two small ones, a long one, a refused delete; one that was settled.
  await phone.refusedPush('notes/Grüße.md', 'mine', { base_sha: '' });
  await phone.refusedPush('big.txt', long.toUpperCase(), { base_sha: '' });
  await phone.refusal('sync_push', phone.deleteOf('big.txt', { base_sha: bigger.sha256, device_id: 'tablet' }));
  const settled = await phone.refusedPush('image.bin', 'text now', { base_sha: '' });
  const id = settled.data['conflict_id'] ?? settled.data['conflict'];
  await phone.result('sync_resolve_conflict', { conflict_id: id, keep: 'theirs' });
  const second = await laptop.result<{ vault_id: string }>('vault_create', {
    name: 'second',
    protected_paths: ['*.md'],
  });
  await laptop.push('other.md', 'in the second', { vault_id: second.vault_id });
  await laptop.result('vault_create', { name: 'empty' });
}

/** Everything that a hub tells of an account, but for what is the hub's own: cursors, keys, when a device was seen last. */
export async function toldOf(hub: Hub, owner: Owner, mirrorToken: string): Promise<Record<string, unknown>> {
  const rest = await restOf(hub, owner);
  const tool = toolsOf(hub, owner);
  const mirror = { token: mirrorToken, hmac_secret: '' };
  const blobs = await listAll(hub, mirror);
  const downloads = await Promise.all(
    blobs.map(async ({ commit_sha: commit, sha256 }) => {
      const answer = await get(hub, mirror, `/${commit}/download?sha256=${sha256}`);
      return [answer.status, sha256Of(answer.bytes)];
    }),
  );
  const { docs } = await tool<{ docs: { id: number }[] }>('list_dev_docs', { limit: 200 });
  const { handoffs } = await tool<{ handoffs: Record<string, unknown>[] }>('handoff_list', { limit: 200 });
  const { vaults } = await tool<{ vaults: { vault_id: string }[] }>('vault_list');
  return {
    tasks: await rest('GET', '/api/tasks?per_page=100'),
    tasksByTool: await tool('list_tasks', { limit: 500, sort_by: 'content' }),
    categories: await rest('GET', '/api/categories'),
    papers: await rest('GET', '/api/papers?include_content=true&limit=100'),
    blobs,
    downloads,
    docs,
    found: await tool('list_dev_docs', { search: 'tests FIRST' }),
    devCategories: await tool('list_dev_categories'),
    docTexts: await Promise.all(docs.map(({ id }) => tool('get_dev_doc', { id, include_versions: true }))),
    docPull: (await tool<{ docs: unknown }>('pull_dev_docs'))['docs'],
    docChanges: await tool('pull_dev_docs', { since: '2020-01-01T00:00:00Z' }).then(withoutOwn),
    handoffs,
    handoffTexts: await Promise.all(
      handoffs.map(({ project, topic, date, time }) =>
        tool('handoff_get', {
          project,
          topic,
          date,
          ...(time === null || time === undefined ? {} : { time }),
          include_versions: true,
        }),
      ),
    ),
    vaults,
    inVaults: await Promise.all(vaults.map(({ vault_id }) => toldOfVault(tool, vault_id))),
  };
}

async function toldOfVault(tool: ReturnType<typeof toolsOf>, vault_id: string) {
  const pulled = await tool('sync_pull', { initial: true, vault_id });
  const listed = await tool<{ files: { path: string }[] }>('sync_list', { include_deleted: true, vault_id });
  return {
    pulled: withoutOwn(pulled),
    since: withoutOwn(await tool('sync_pull', { since: '2020-01-01T00:00:00Z', vault_id })),
    listed: withoutOwn(listed),
    devices: withoutOwn(await tool('vault_connect_status', { vault_id })),
    clone: withoutOwn(await tool('vault_clone', { vault_id, device_id: 'new' })),
    history: await Promise.all(listed.files.map(({ path }) => tool('sync_history', { path, vault_id }))),
    diffs: await Promise.all(listed.files.map(({ path }) => tool('sync_diff', { path, vault_id }))),
    conflicts: withoutOwn(await tool('sync_pending_conflicts', { vault_id })),
  };
}

function withoutOwn({ cursor: _cursor, server_time: _time, ...rest }: Record<string, unknown>): unknown {
  return rest;
}
