/** Rotation that keeps archives readable, and credentials that only upload. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import {
  type Account,
  account,
  type Credential,
  credential,
  download,
  get,
  mirrorAccount,
  randomCommit,
  upload,
} from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';

let hub: Hub;
beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => hub.stop());

interface Rotated extends Credential {
  readonly archives_kept: number;
  readonly archives_unreadable: number;
}
interface Uploader extends Credential {
  readonly id: string;
}

const PATH = '/api/cert_mirror';

function ask(method: string, path: string, key: string, body?: object, on: Pick<Hub, 'url'> = hub) {
  return call(on, `${PATH}${path}`, {
    method,
    headers: { Authorization: `McpKey ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function rotate(who: Account, on = hub): Promise<Rotated> {
  const answer = await ask('POST', '/credentials/rotation', who.mcp_key, {}, on);
  expect(answer.json()).toMatchObject({ status: 'created' });
  return answer.json() as unknown as Rotated;
}

async function stateOf(who: Account) {
  return (await ask('GET', '/credentials', who.mcp_key)).json();
}

/** Uploads small and large archives. */
async function fill(who: Credential) {
  const sent: { commit: string; bytes: Buffer }[] = [];
  for (const size of [9, 70_000, 1_500_000]) {
    const archive = { commit: randomCommit(), bytes: randomBytes(size) };
    expect((await upload(hub, who, archive.commit, archive.bytes)).status).toBe(200);
    sent.push(archive);
  }
  return sent;
}

async function readable(who: Pick<Credential, 'token'>, sent: { commit: string; bytes: Buffer }[], on = hub) {
  const answers = await Promise.all(sent.map(({ commit }) => download(on, who, commit)));
  return answers.filter(({ status, bytes }, at) => status === 200 && bytes.equals(sent[at]?.bytes ?? Buffer.of()))
    .length;
}

test('[MIR-26] a rotation that keeps archives ends the old token and leaves each archive and its time as they were', async () => {
  const who = await mirrorAccount(hub);
  const sent = await fill(who);
  const before = await listAll(hub, who);
  const first = await rotate(who);
  expect(first).toMatchObject({ archives_kept: 3, archives_unreadable: 0 });
  expect((await get(hub, who, '')).status).toBe(401);
  // The answer was lost: again.
  const second = await rotate(who);
  expect((await get(hub, first, '')).status).toBe(401);
  expect(await listAll(hub, second)).toEqual(before);
  expect(await readable(second, sent)).toBe(3);
  const [again] = sent;
  if (again === undefined) throw new Error('nothing was sent');
  // Signed with the old secret: refused. With the new one: a retry, which changes nothing.
  expect((await upload(hub, { ...second, hmac_secret: who.hmac_secret }, again.commit, again.bytes)).status).toBe(422);
  expect((await upload(hub, second, again.commit, again.bytes)).status).toBe(200);
  expect(await listAll(hub, second)).toEqual(before);
  expect((await upload(hub, second, randomCommit(), randomBytes(5))).status).toBe(200);
  expect(await stateOf(who)).toMatchObject({ exists: true, archives_readable: 4, archives_unreadable: 0 });
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
});

test('[MIR-26, MIR-14] archives unreadable before stay so, are counted, and the refusal says a way that loses nothing', async () => {
  const who = await mirrorAccount(hub);
  const lost = await fill(who);
  const replaced = { ...who, ...(await credential(hub, who.mcp_key, true)) };
  expect(await stateOf(who)).toMatchObject({ archives_readable: 0, archives_unreadable: 3 });
  const [first] = lost;
  const answer = await download(hub, replaced, first?.commit ?? '');
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('cairn export');
  expect((await upload(hub, replaced, first?.commit ?? '', first?.bytes ?? Buffer.of())).status).toBe(200);
  const rotated = await rotate(who);
  expect(rotated).toMatchObject({ archives_kept: 1, archives_unreadable: 2 });
  expect(await readable(rotated, lost)).toBe(1);
  await ask('DELETE', '/credentials', who.mcp_key);
  expect(await stateOf(who)).toEqual({ exists: false, created_at: null, archives_readable: 0, archives_unreadable: 3 });
  expect((await ask('POST', '/credentials/rotation', who.mcp_key, {})).json()).toEqual({ error: 'no credential' });
});

test('[MIR-26, OPS-2] a rotation that was answered outlives kill -9, with every archive readable', async () => {
  const own = await startHub();
  const who = await mirrorAccount(own);
  const archive = { commit: randomCommit(), bytes: randomBytes(70_000) };
  await upload(own, who, archive.commit, archive.bytes);
  const rotated = await rotate(who, own);
  await own.kill();
  const again = await startHub({ dataFolder: own.dataFolder });
  try {
    expect(await readable(rotated, [archive], again)).toBe(1);
    expect((await get(again, who, '')).status).toBe(401);
  } finally {
    await again.stop();
  }
});

test('[MIR-26, MIR-29] an upload-only credential uploads, and its token opens nothing else', async () => {
  const who = await mirrorAccount(hub);
  const made = await ask('POST', '/credentials/uploaders', who.mcp_key, { name: 'github-actions' });
  expect(made.status).toBe(201);
  const ci = made.json() as unknown as Uploader;
  const archive = { commit: randomCommit(), bytes: randomBytes(70_000) };
  expect((await upload(hub, ci, archive.commit, archive.bytes)).status).toBe(200);
  expect((await upload(hub, { ...ci, hmac_secret: who.hmac_secret }, randomCommit(), archive.bytes)).status).toBe(422);
  for (const path of ['', '/latest', '/repositories', `/${archive.commit}/download`, '/drills']) {
    expect({ path, status: (await get(hub, ci, path)).status }).toEqual({ path, status: 403 });
  }
  for (const [method, path] of [
    ['POST', '/credentials'],
    ['POST', '/credentials/rotation'],
    ['GET', '/credentials'],
    ['GET', '/credentials/uploaders'],
  ] as const) {
    expect((await ask(method, path, ci.token, method === 'POST' ? {} : undefined)).status).toBe(401);
  }
  expect((await ask('POST', '/drills', ci.token, {})).status).toBe(403);
  expect((await ask('POST', '/removals', ci.token, { archives: [] })).status).toBe(403);
  // What an increment continues: the archives of a repository that it names, and their headers, never their content.
  const repository = 'ab'.repeat(32);
  const header = `age-encryption.org/v1\n-> X25519 abc\nkey\n--- ${'m'.repeat(43)}\n`;
  const continued = { commit: randomCommit(), bytes: Buffer.concat([Buffer.from(header), randomBytes(70_000)]) };
  const headers = { 'X-Repository-Id': repository };
  expect((await upload(hub, ci, continued.commit, continued.bytes, headers)).status).toBe(200);
  expect((await get(hub, ci, '/uploads')).status).toBe(422);
  expect((await get(hub, ci, '/uploads?repository_id=unknown')).status).toBe(422);
  const uploads = (await get(hub, ci, `/uploads?repository_id=${repository}`)).json()['blobs'];
  expect(uploads).toEqual([expect.objectContaining({ commit_sha: continued.commit, repository_id: repository })]);
  expect((await get(hub, ci, `/${continued.commit}/header`)).text).toBe(header);
  expect((await get(hub, ci, `/${archive.commit}/header`)).status).toBe(404);
  expect(await readable(who, [archive])).toBe(1);
  const listed = (await ask('GET', '/credentials/uploaders', who.mcp_key)).json();
  expect(listed).toEqual({
    uploaders: [{ id: ci.id, name: 'github-actions', access: 'upload', created_at: expect.any(String) }],
  });
  expect((await ask('DELETE', `/credentials/uploaders/${ci.id}`, who.mcp_key)).status).toBe(204);
  expect((await ask('DELETE', `/credentials/uploaders/${ci.id}`, who.mcp_key)).status).toBe(404);
  expect((await upload(hub, ci, randomCommit(), archive.bytes)).status).toBe(401);
  expect(await readable(who, [archive])).toBe(1);
});

test('[MIR-26] upload-only credentials outlive a rotation, and end with the credential of the account', async () => {
  const who = await mirrorAccount(hub);
  const ci = (await ask('POST', '/credentials/uploaders', who.mcp_key, { name: 'ci' })).json() as unknown as Uploader;
  const [kept, bound] = [
    { commit: randomCommit(), bytes: randomBytes(8) },
    { commit: randomCommit(), bytes: randomBytes(8) },
  ];
  const rotated = await rotate(who);
  expect((await upload(hub, ci, kept.commit, kept.bytes)).status).toBe(200);
  expect(await readable(rotated, [kept])).toBe(1);
  const replaced = await credential(hub, who.mcp_key, true);
  expect((await upload(hub, ci, bound.commit, bound.bytes)).status).toBe(200);
  expect(await readable(replaced, [kept, bound])).toBe(1);
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
  await ask('DELETE', '/credentials', who.mcp_key);
  expect((await upload(hub, ci, randomCommit(), bound.bytes)).status).toBe(401);
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
});

test('[MIR-26] an account has at most 50 upload-only credentials, and none without a credential; others see none', async () => {
  const bare = await account(hub);
  expect((await ask('POST', '/credentials/uploaders', bare.mcp_key, { name: 'ci' })).status).toBe(404);
  const who = await mirrorAccount(hub);
  const ids: string[] = [];
  for (let number = 0; number < 50; number += 1) {
    const made = (await ask('POST', '/credentials/uploaders', who.mcp_key, { name: `ci ${number}` })).json();
    ids.push((made as unknown as Uploader).id);
  }
  expect((await ask('POST', '/credentials/uploaders', who.mcp_key, { name: 'more' })).status).toBe(409);
  expect((await ask('POST', '/credentials/uploaders', who.mcp_key, { name: ' ' })).status).toBe(422);
  expect((await ask('DELETE', `/credentials/uploaders/${ids[0] ?? ''}`, bare.mcp_key)).status).toBe(404);
});
