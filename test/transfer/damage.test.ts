/** An account with damaged contents is exported without them, and the archive says so. */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { allTables } from '../../src/compose/tables.ts';
import { devDocChanges } from '../../src/documents/dev-docs/records.ts';
import { versionTexts } from '../../src/documents/records.ts';
import { UPGRADE } from '../../src/store/owners.ts';
import { Store } from '../../src/store/store.ts';
import { taskHeads } from '../../src/tasks/records.ts';
import { flip } from '../support/flip.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';
import { editManifest, exported, imported } from '../support/portable.ts';
import { Device, sha256Of } from '../support/sync.ts';

const hubs: Hub[] = [];
afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.kill();
});

test('[OPS-10, TASK-5] export goes on without damaged blobs and versions, lists them, and its archive is imported', async () => {
  const hub = await startHub();
  hubs.push(hub);
  const owner = await mirrorAccount(hub);
  const laptop = new Device(hub, owner.mcp_key);
  const [blob, long] = [randomBytes(200_000), randomBytes(150_000).toString('hex')];
  const commits = [randomCommit(), randomCommit()];
  await upload(hub, owner, commits[0] ?? '', Buffer.from('whole'));
  await upload(hub, owner, commits[1] ?? '', blob);
  await laptop.push('whole.md', 'whole');
  await laptop.result('set_timezone', { timezone: 'Asia/Seoul' });
  await laptop.push('small.md', 'a small file that will be damaged');
  await laptop.push('long.md', long);
  flip(hub.dataFolder, blob.subarray(1000, 1064));
  flip(hub.dataFolder, 'file that will be damaged');
  flip(hub.dataFolder, long.slice(1000, 1064));
  const { folder, manifest } = await exported(hub, owner.email);
  expect((manifest as unknown as { missing: string[] }).missing).toHaveLength(3);
  expect(manifest).toHaveProperty('account.time_zone', 'Asia/Seoul');
  editManifest(folder, () => undefined);
  const other = await startHub();
  hubs.push(other);
  const back = await imported(other, folder);
  expect(await verified(other)).toMatchObject({ ok: true });
  expect((await exported(other, owner.email)).manifest).toHaveProperty('account.time_zone', 'Asia/Seoul');
  const listed = await listAll(other, { token: back.mirror_token ?? '' });
  expect(listed.map(({ commit_sha }) => commit_sha)).toEqual([commits[0]]);
  const { files } = await new Device(other, back.mcp_key).result<{ files: { path: string }[] }>('sync_list', {});
  expect(files.map(({ path }) => path)).toEqual(['whole.md']);
});

test('[OPS-10, OPS-13] damaged records, conflicts, texts and indexes are left out and listed, and what is left is imported', async () => {
  const first = await startHub();
  const { email, mcp_key: key, account_id: accountId } = await mirrorAccount(first);
  const laptop = new Device(first, key);
  // A deletion after a damaged version: the import must not find the older file in its way.
  await laptop.push('gone.md', 'as it was first');
  await laptop.push('gone.md', 'a version that will be damaged', { base_sha: sha256Of('as it was first') });
  await laptop.result(
    'sync_push',
    laptop.deleteOf('gone.md', { base_sha: sha256Of('a version that will be damaged') }),
  );
  await laptop.push('ours.md', 'ours');
  await laptop.refusedPush('ours.md', 'the words of a refused push', { base_sha: sha256Of('never there') });
  for (const content of ['a whole task', 'a task that will be damaged'])
    await laptop.result('create_task', { content });
  await laptop.result('create_dev_doc', { title: 'a doc', category: 'docs', content: 'the first text' });
  await laptop.result('update_dev_doc', { id: 1, content: 'the second text' });
  await first.stop();
  for (const words of ['version that will be damaged', 'words of a refused push', '"a task that will be damaged']) {
    flip(first.dataFolder, words);
  }
  const store = new Store({ folder: first.dataFolder, tables: allTables });
  await store.write(UPGRADE, (batch): void => {
    for (const row of batch.keys(versionTexts, [accountId])) if (row[3] === 2) batch.remove(versionTexts, row);
    for (const row of batch.keys(devDocChanges, [accountId])) batch.remove(devDocChanges, row);
    batch.remove(taskHeads, [accountId]);
  });
  await store.close();
  const hub = await startHub({ dataFolder: first.dataFolder });
  hubs.push(hub);
  const { folder, manifest } = await exported(hub, email);
  expect((manifest as unknown as { missing: string[] }).missing.sort()).toEqual([
    expect.stringMatching(/^conflict v_\w+ \w+: its content is damaged$/),
    expect.stringMatching(/^tasks acc_\w+ 2: the record cannot be read$/),
    expect.stringMatching(/^version acc_\w+ docs 1 2: its text, or the version after it, is missing$/),
    expect.stringMatching(/^version acc_\w+ docs 1 2: the current text is missing$/),
    expect.stringMatching(/^version v_\w+ 2: it is damaged$/),
  ]);
  const other = await startHub();
  hubs.push(other);
  const back = new Device(other, (await imported(other, folder)).mcp_key);
  expect(await verified(other)).toMatchObject({ ok: true });
  const { files } = await back.result<{ files: { path: string }[] }>('sync_list', {});
  expect(files.map(({ path }) => path)).toEqual(['ours.md']);
  expect(JSON.stringify(await back.result('list_tasks', {}))).toContain('a whole task');
  expect(JSON.stringify(await back.result('get_dev_doc', { id: 1 }))).toContain('the first text');
});
