/** cairn export and cairn import: an account on another hub is the account that it was, and goes on from there. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callTool } from '../support/gateway.ts';
import { type Hub, runCairn, startHub } from '../support/hub.ts';
import { account, credential, get, randomCommit, sha256, upload } from '../support/mirror.ts';
import { verified } from '../support/mirror-state.ts';
import {
  exported,
  fullAccount,
  imported,
  importInto,
  type Owner,
  restOf,
  sectionsOf,
  toldOf,
  toolsOf,
} from '../support/portable.ts';
import { type Pulled, pull } from '../support/pull.ts';
import { Device } from '../support/sync.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Each starts hubs and runs commands, which takes long on a busy machine. */
const TEST_MS = 180_000;

let hubs: Hub[] = [];
afterEach(async () => {
  await Promise.all(hubs.map((hub) => hub.kill()));
  hubs = [];
});

async function start(dataFolder?: string, env: Record<string, string> = {}): Promise<Hub> {
  const hub = await startHub({ ...(dataFolder !== undefined && { dataFolder }), env });
  hubs.push(hub);
  return hub;
}

const sound = { code: 0, ok: true, staged_uploads: 0, staged_contents: 0, imports: 0, problems: [] };

/** A hub with a full account, what it tells of it, and an archive of it. */
async function archived() {
  const from = await start();
  const owner = await fullAccount(from);
  const { token } = await credential(from, owner.mcp_key);
  const told = await toldOf(from, owner, token);
  return { from, owner, token, told, ...(await exported(from, owner.email)) };
}

test('[OPS-13] an account that went to another hub while both ran is there what it was', {
  timeout: TEST_MS,
}, async () => {
  const { owner, told, folder, manifest } = await archived();
  expect(manifest.files['vaults']?.records).toBeGreaterThan(15);
  const to = await start();
  const other = await fullAccount(to);
  const made = await imported(to, folder);
  expect(made.email).toBe(owner.email);
  expect(await toldOf(to, made, made.mirror_token ?? '')).toEqual(told);
  expect(await verified(to)).toMatchObject(sound);
  // An account of the archive is written as the same archive, and the other account is not in it.
  const again = await exported(to, owner.email);
  expect(sectionsOf(again.folder)).toEqual(sectionsOf(folder));
  expect(again.manifest.blobs).toEqual(manifest.blobs);
  expect(sectionsOf((await exported(to, other.email)).folder)).not.toEqual(sectionsOf(folder));
});

test('[OPS-13] what comes after an import goes on where the account stood', { timeout: TEST_MS }, async () => {
  const { from, owner, folder } = await archived();
  const laptop = new Device(from, owner.mcp_key, 'laptop');
  const before = await pull(laptop, { initial: true });
  const to = await start();
  const made = await imported(to, folder);
  const rest = await restOf(to, made);
  const tool = toolsOf(to, made);

  // Numbers that were given are not given again, the bin gives back what lies in it.
  expect((await rest('POST', '/api/tasks', { content: 'next' }))['id']).toBe(6);
  expect((await rest('POST', '/api/categories', { name: 'next' }))['id']).toBe(3);
  expect((await rest('POST', '/api/papers', { title: 'next' }))['id']).toBe(4);
  expect(await tool('update_task', { id: 4, restore: true })).toMatchObject({
    task: { content: 'binned', category_id: null },
  });
  expect(await tool('update_dev_doc', { title: 'again.md', restore: true, content: 'three' })).toMatchObject({
    doc: { id: 4, version: 2 },
  });

  // A cursor of before is refused, and pulling all gives the same.
  const phone = new Device(to, made.mcp_key, 'phone');
  phone.ms = Date.now();
  expect((await phone.refusal('sync_pull', { cursor: before.cursor })).data).toMatchObject({ field: 'cursor' });
  const now: Pulled = await pull(phone, { initial: true });
  expect(now.files).toEqual(before.files);
  const list = now.files.find(({ path }) => path === 'notes/Grüße.md');
  const pushed = await phone.push('notes/Grüße.md', 'three\n', { base_sha: list?.sha256 });
  expect(pushed).toMatchObject({ status: 'updated', previous_hlc: expect.any(String), warnings: [] });
  // The log had twelve versions.
  expect(pushed.seq).toBe(13);
  const { files, deleted } = await pull(phone, { cursor: now.cursor });
  expect([...files, ...deleted].map(({ path }) => path)).toEqual(['notes/Grüße.md']);
  const pending = await phone.result<{ conflicts: { conflict_id: string; path: string; kind: string }[] }>(
    'sync_pending_conflicts',
    {},
  );
  expect(pending.conflicts).toHaveLength(3);
  for (const { conflict_id } of pending.conflicts) {
    await phone.result('sync_resolve_conflict', { conflict_id, keep: 'yours' });
  }

  // The new credential opens what the old one opened, and signs what comes.
  const mirror = { token: made.mirror_token ?? '', hmac_secret: made.mirror_secret ?? '' };
  const commit = randomCommit();
  expect((await upload(to, mirror, commit, Buffer.from('next'))).status).toBe(200);
  expect((await get(to, mirror, '/latest')).json()).toMatchObject({ commit_sha: commit });
  expect(await verified(to)).toMatchObject(sound);
  await to.stop();
  const later = await start(to.dataFolder);
  expect(await pull(new Device(later, made.mcp_key), { path: 'notes/Grüße.md' })).toMatchObject({ type: 'file' });
  expect(await verified(later)).toMatchObject(sound);
});

test('[OPS-13] on a hub that does not run an account is imported as well, and on its own hub as another', {
  timeout: TEST_MS,
}, async () => {
  const { from, owner, token, told, folder } = await archived();
  await from.stop();
  const made = await imported(from, folder, '--email', 'Other@Example.org');
  expect(made.email).toBe('other@example.org');
  expect(await verified(from)).toMatchObject(sound);
  const again = await start(from.dataFolder);
  expect(await toldOf(again, owner, token)).toEqual(told);
  // Its vaults have other ids, because those are taken; everything else is the same.
  const copied = JSON.stringify(await toldOf(again, made, made.mirror_token ?? ''));
  const idsOf = async (who: Owner) =>
    (await toolsOf(again, who)<{ vaults: { vault_id: string }[] }>('vault_list')).vaults.map(
      ({ vault_id }) => vault_id,
    );
  const [ours, theirs] = [await idsOf(owner), await idsOf(made)];
  expect(new Set([...ours, ...theirs]).size).toBe(6);
  const renamed = theirs.reduce((text, id, index) => text.replaceAll(id, ours[index] ?? ''), copied);
  expect(JSON.parse(renamed)).toEqual(told);
  // Nobody reaches the vaults of the other.
  const foreign = await callTool(again, 'sync_list', { vault_id: ours[0] }, made.mcp_key);
  expect(foreign.error?.message).toContain('this account has no vault');
  expect(await verified(again)).toMatchObject(sound);
});

test('[OPS-13] an export is of one moment, whatever is written meanwhile', { timeout: TEST_MS }, async () => {
  const from = await start();
  const owner = await account(from);
  const tool = toolsOf(from, owner);
  const laptop = new Device(from, owner.mcp_key, 'laptop');
  let isOver = false;
  let round = 0;
  // Each round writes a file, then a task: an archive may hold one file more than tasks, and never a task more.
  const writing = (async () => {
    for (; !isOver; round += 1) {
      await laptop.push(`notes/${round}.md`, 'x'.repeat(round % 2 === 0 ? 10 : 100_000));
      await tool('create_task', { content: `${round}` });
    }
  })();
  while (round < 20) await tool('list_tasks');
  const archives = [await exported(from, owner.email), await exported(from, owner.email)];
  isOver = true;
  await writing;
  for (const { folder } of archives) {
    const lines = (name: string, type: string) =>
      (sectionsOf(folder)[name] ?? '').split('\n').filter((line) => line.startsWith(`{"type":"${type}"`)).length;
    const [files, tasks] = [lines('vaults', 'file'), lines('tasks', 'task')];
    expect(tasks).toBeGreaterThanOrEqual(20);
    expect([0, 1]).toContain(files - tasks);
    const to = await start();
    await imported(to, folder);
    expect(await verified(to)).toMatchObject({ ...sound, tasks, files });
  }
});

test('[OPS-13] no secret leaves with an archive, only its owner reads it, and it holds no internal number', {
  timeout: TEST_MS,
}, async () => {
  const from = await start();
  const owner = await fullAccount(from);
  const { hmac_secret: secret, token } = await credential(from, owner.mcp_key, true);
  const password = 'correct horse battery';
  const set = await runCairn(
    ['account', 'password', '--email', owner.email],
    { CAIRN_DATA: from.dataFolder },
    password,
  );
  expect(set.code).toBe(0);
  const { folder } = await exported(from, owner.email);
  const hiddens = [...Object.values(owner), token, secret, 'storage_id', 'password', 'argon2'];
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) =>
    join(entry.parentPath, entry.name),
  );
  for (const path of [folder, ...paths]) {
    expect(statSync(path).mode & 0o077).toBe(0);
    if (!statSync(path).isFile()) continue;
    const bytes = readFileSync(path);
    for (const hidden of hiddens.filter((text) => text !== owner.email)) {
      expect({ path, hidden, found: bytes.includes(hidden) }).toEqual({ path, hidden, found: false });
    }
    if (dirname(path).endsWith('blobs')) expect(sha256(bytes)).toBe(path.slice(-64));
  }
});

test('[OPS-13] neither command overwrites anything, and each says what is in the way', {
  timeout: TEST_MS,
}, async () => {
  const { from, owner, token, told, folder } = await archived();
  const manifest = readFileSync(join(folder, 'manifest.json'));
  const twice = await from.cli('export', '--email', owner.email, folder);
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') });
  expect(readFileSync(join(folder, 'manifest.json')).equals(manifest)).toBe(true);
  const nobody = join(temporaryFolder(), 'nobody');
  const unknown = await from.cli('export', '--email', 'nobody@example.org', nobody);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('no account has this email') });
  expect(existsSync(nobody)).toBe(false);
  expect(readdirSync(dirname(folder))).toEqual(['archive']);
  expect(await from.cli('export', folder)).toMatchObject({ code: 2, stderr: expect.stringContaining('--email') });
  expect(await from.cli('import')).toMatchObject({ code: 2, stderr: expect.stringContaining('PATH') });

  const there = await importInto(from, folder);
  expect(there).toMatchObject({ code: 1, stderr: expect.stringContaining('already has an account'), stdout: '' });
  expect(await toldOf(from, owner, token)).toEqual(told);
  expect(await verified(from)).toMatchObject(sound);
});

test('[OPS-13] what a person reads names the keys once, and that there is no password yet', {
  timeout: TEST_MS,
}, async () => {
  const { folder, owner } = await archived();
  const to = await start();
  const { stdout, stderr, code } = await to.cli('import', folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const label of ['account key', 'MCP key', 'mirror token', 'mirror secret']) expect(stdout).toContain(label);
  expect(stdout).toContain(`cairn account password --email ${owner.email}`);
  const login = await callTool(to, 'login_and_get_key', { email: owner.email, password: 'anything' });
  expect(login.error?.code).toBe(-32001);
});
