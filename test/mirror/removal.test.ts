/** Archives are removed permanently, all of a request or none, and never so that another one cannot be restored. */
import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import {
  type Credential,
  credential,
  download,
  get,
  mirrorAccount,
  randomCommit,
  sha256,
  upload,
} from '../support/mirror.ts';
import { latestOf, listAll, verified } from '../support/mirror-state.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub({ env: { CAIRN_MIRROR_QUOTA_BYTES: String(3 * 1024 * 1024) } });
const repository = createHash('sha256').update('removed').digest('hex');

interface Archive {
  readonly base?: Sent;
  readonly bytes?: number;
  readonly commit?: string;
}

interface Sent {
  readonly commit_sha: string;
  readonly sha256: string;
}

async function send(who: Credential, { base, bytes = 40, commit = randomCommit() }: Archive = {}, to: Hub = hub) {
  const content = randomBytes(bytes);
  const named = { 'X-Repository-Id': repository, 'X-Archive-Kind': 'repository' };
  const headers = base === undefined ? named : { ...named, 'X-Archive-Base': base.sha256 };
  const answer = await upload(to, who, commit, content, headers);
  return { status: answer.status, commit_sha: commit, sha256: sha256(content) };
}

const named = ({ commit_sha, sha256: sum }: Sent) => ({ commit_sha, sha256: sum });

function remove(token: string, archives: readonly Sent[], from: Hub = hub) {
  return call(from, '/api/cert_mirror/removals', {
    method: 'POST',
    headers: { Authorization: `McpKey ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ archives: archives.map(named) }),
  });
}

test('[MIR-28] a chain that nothing needs is removed with its bytes, its room is free again, and repeating is harmless', async () => {
  const who = await mirrorAccount(hub);
  const full = await send(who, { bytes: 1_500_000 });
  const more = await send(who, { base: full, bytes: 1_000_000 });
  expect((await send(who, { bytes: 1_500_000 })).status).toBe(507);
  const newest = await send(who);
  const removed = await remove(who.token, [more, full]);
  expect(removed.json()).toEqual({ removed: 2, bytes: 2_500_000 });
  expect((await remove(who.token, [full, more])).json()).toEqual({ removed: 0, bytes: 0 });
  expect((await listAll(hub, who)).map((one) => one.sha256)).toEqual([newest.sha256]);
  expect((await download(hub, who, full.commit_sha)).status).toBe(404);
  expect(await latestOf(hub, who)).toMatchObject({ sha256: newest.sha256 });
  const groups = (await get(hub, who, '/repositories')).json()['repositories'];
  expect(groups).toEqual([expect.objectContaining({ archives: 1, bytes: 40 })]);
  expect((await send(who, { bytes: 2_500_000 })).status).toBe(200);
  const state = await call(hub, '/api/cert_mirror/credentials', {
    headers: { Authorization: `McpKey ${who.mcp_key}` },
  });
  expect(state.json()).toMatchObject({ archives_readable: 2, archives_unreadable: 0 });
  expect(await verified(hub)).toMatchObject({ ok: true, problems: [], staged_uploads: 0 });
});

test('[MIR-28] a base that an archive needs, and the newest of a repository, stay; then nothing of the request goes', async () => {
  const who = await mirrorAccount(hub);
  const full = await send(who);
  const more = await send(who, { base: full });
  const last = await send(who, { base: more });
  const needed = await remove(who.token, [full]);
  expect(needed.status).toBe(422);
  expect(needed.text).toContain(`is needed to restore the archive of commit ${more.commit_sha}`);
  const newest = await remove(who.token, [full, more, last]);
  expect(newest.status).toBe(422);
  expect(newest.text).toContain('newest archive of its repository');
  expect(await listAll(hub, who)).toHaveLength(3);
});

test('[MIR-28] of two archives of a commit, the other one is then that of the commit', async () => {
  const who = await mirrorAccount(hub);
  const [first, second] = [await send(who), await send(who)];
  const later = await send(who, { commit: first.commit_sha });
  await send(who);
  expect((await remove(who.token, [later, second])).json()).toMatchObject({ removed: 2 });
  expect((await download(hub, who, first.commit_sha)).headers['x-tarball-sha256']).toBe(first.sha256);
  expect(await verified(hub)).toMatchObject({ ok: true, problems: [] });
});

test('[MIR-28, MIR-26] neither another account nor an upload-only token removes anything', async () => {
  const [who, other] = [await mirrorAccount(hub), await mirrorAccount(hub)];
  const [first] = [await send(who), await send(who)];
  expect((await remove(other.token, [first])).json()).toEqual({ removed: 0, bytes: 0 });
  const uploader = await call(hub, '/api/cert_mirror/credentials/uploaders', {
    method: 'POST',
    headers: { Authorization: `McpKey ${who.mcp_key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'ci' }),
  });
  expect((await remove(String(uploader.json()['token']), [first])).status).toBe(403);
  expect((await remove(who.mcp_key, [first])).status).toBe(401);
  expect(await listAll(hub, who)).toHaveLength(2);
  // Under a new credential that destroyed the readability of the old archives they can be removed still.
  const { token } = await credential(hub, who.mcp_key, true);
  expect((await remove(token, [first])).json()).toMatchObject({ removed: 1 });
  expect(await verified(hub)).toMatchObject({ ok: true, problems: [] });
});

test('[MIR-28, OPS-2] a removal that was answered outlives kill -9, and no bytes of it are left', async () => {
  const own = await startHub();
  const who = await mirrorAccount(own);
  const [first, second] = [await send(who, { bytes: 900_000 }, own), await send(who, {}, own)];
  expect((await remove(who.token, [first], own)).status).toBe(200);
  await own.kill();
  const again = await startHub({ dataFolder: own.dataFolder });
  try {
    expect((await listAll(again, who)).map((one) => one.sha256)).toEqual([second.sha256]);
    expect(await verified(again)).toMatchObject({ ok: true, problems: [], staged_uploads: 0 });
  } finally {
    await again.stop();
  }
});
