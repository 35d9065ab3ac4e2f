/** An account with damaged contents is exported without them, and the archive says so. */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { flip } from '../support/flip.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';
import { editManifest, exported, imported } from '../support/portable.ts';
import { Device } from '../support/sync.ts';

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
