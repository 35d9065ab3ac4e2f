/** Credentials that list and download, and do nothing else: what a job that restores may be given. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Answer, call } from '../support/http.ts';
import { account, credential, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { verified } from '../support/mirror-state.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

interface Job {
  readonly id: string;
  readonly token: string;
  readonly hmac_secret: string | null;
}

const ask = (method: string, path: string, value: string, body?: object): Promise<Answer> =>
  call(hub, `/api/cert_mirror${path}`, {
    method,
    headers: { Authorization: `McpKey ${value}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

async function job(key: string): Promise<Job> {
  const made = await ask('POST', '/credentials/uploaders', key, { name: 'restore', access: 'download' });
  expect(made.status).toBe(201);
  return made.json() as unknown as Job;
}

test('[MIR-31] a download-only credential lists and downloads, has no secret, and its token does nothing else', async () => {
  const who = await mirrorAccount(hub);
  const archive = { commit: randomCommit(), bytes: randomBytes(70_000) };
  const repository = 'cd'.repeat(32);
  const headers = { 'X-Repository-Id': repository };
  expect((await upload(hub, who, archive.commit, archive.bytes, headers)).status).toBe(200);
  const { id, token, hmac_secret: secret } = await job(who.mcp_key);
  expect(secret).toBeNull();
  for (const path of ['', '/latest', '/repositories', `?repository_id=${repository}`])
    expect([path, (await ask('GET', path, token)).status]).toEqual([path, 200]);
  const download = await call(hub, `/api/cert_mirror/${archive.commit}/download`, {
    headers: { Authorization: `McpKey ${token}` },
  });
  expect([download.status, download.bytes.equals(archive.bytes)]).toEqual([200, true]);
  // Signed with the secret of the account, too: the token does not upload.
  const sent = await upload(hub, { token, hmac_secret: who.hmac_secret }, randomCommit(), archive.bytes);
  expect([sent.status, sent.json()['error']]).toEqual([403, expect.stringContaining('may only list and download')]);
  const [blob] = (await ask('GET', '', who.token)).json()['blobs'] as { commit_sha: string; sha256: string }[];
  const { commit_sha, sha256 } = blob ?? { commit_sha: '', sha256: '' };
  for (const [method, path, body] of [
    ['POST', '/removals', { archives: [{ commit_sha, sha256 }] }],
    ['POST', '/drills', { repository_id: repository, commit_sha, sha256, outcome: 'proven' }],
    ['GET', '/drills', undefined],
    ['GET', `/uploads?repository_id=${repository}`, undefined],
    ['GET', `/${archive.commit}/header`, undefined],
  ] as const)
    expect([method, path, (await ask(method, path, token, body)).status]).toEqual([method, path, 403]);
  for (const [method, path] of [
    ['POST', '/credentials'],
    ['POST', '/credentials/rotation'],
    ['GET', '/credentials'],
    ['DELETE', '/credentials'],
    ['GET', '/credentials/uploaders'],
    ['DELETE', `/credentials/uploaders/${id}`],
  ] as const)
    expect([method, path, (await ask(method, path, token, method === 'POST' ? {} : undefined)).status]).toEqual([
      method,
      path,
      401,
    ]);
  expect((await ask('GET', '', who.token)).json()['blobs']).toHaveLength(1);
  expect((await ask('GET', '/credentials/uploaders', who.mcp_key)).json()).toEqual({
    uploaders: [{ id, name: 'restore', access: 'download', created_at: expect.any(String) }],
  });
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
  expect((await ask('DELETE', `/credentials/uploaders/${id}`, who.mcp_key)).status).toBe(204);
  expect((await ask('GET', '', token)).status).toBe(401);
});

test('[MIR-31, MIR-26] it outlives a rotation that keeps the archives, ends with the credential, and sees no other account', async () => {
  const who = await mirrorAccount(hub);
  const archive = { commit: randomCommit(), bytes: randomBytes(8) };
  await upload(hub, who, archive.commit, archive.bytes);
  const { token } = await job(who.mcp_key);
  const other = await job((await mirrorAccount(hub)).mcp_key);
  const path = `/${archive.commit}/download`;
  expect((await ask('GET', path, other.token)).status).toBe(404);
  expect((await ask('POST', '/credentials/rotation', who.mcp_key, {})).status).toBe(200);
  expect((await ask('GET', path, token)).status).toBe(200);
  // What is locked for everybody is locked for it.
  await credential(hub, who.mcp_key, true);
  expect((await ask('GET', path, token)).status).toBe(422);
  expect((await ask('DELETE', '/credentials', who.mcp_key)).status).toBe(200);
  expect((await ask('GET', '', token)).status).toBe(401);
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
});

test('[MIR-31] it is made with a key that writes, of an account with a credential, and its access is a known word', async () => {
  const bare = await account(hub);
  const wanted = { name: 'restore', access: 'download' };
  expect((await ask('POST', '/credentials/uploaders', bare.mcp_key, wanted)).status).toBe(404);
  const who = await mirrorAccount(hub);
  const made = await hub.cli('key', 'create', '--email', who.email, '--name', 'r', '--read-only', '--json');
  const { mcp_key: reading } = JSON.parse(made.stdout) as { mcp_key: string };
  expect((await ask('POST', '/credentials/uploaders', reading, wanted)).status).toBe(403);
  const all = await ask('POST', '/credentials/uploaders', who.mcp_key, { name: 'x', access: 'all' });
  expect([all.status, Object.keys(all.json()['errors'] as object)]).toEqual([422, ['access']]);
  const usual = await ask('POST', '/credentials/uploaders', who.mcp_key, { name: 'x' });
  expect(usual.json()).toMatchObject({ access: 'upload', hmac_secret: expect.stringMatching(/^[0-9a-f]{64}$/) });
});
