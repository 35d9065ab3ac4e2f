/** Repositories of the mirror: what an upload says of its repository and its base, and what lists show of them. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeExtValue } from '../../src/text/ext-value.ts';
import { type Hub, startHub } from '../support/hub.ts';
import {
  type Account,
  type Credential,
  credential,
  get,
  mirrorAccount,
  randomCommit,
  sha256,
  upload,
} from '../support/mirror.ts';
import { latestOf, listPage, verified } from '../support/mirror-state.ts';

let hub: Hub;
beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => hub.stop());

const repositoryOf = (name: string) => createHash('sha256').update(name).digest('hex');

/** Uploads random bytes with these headers and returns the commit and the hash of the archive. */
async function send(who: Credential, headers: Record<string, string> = {}, bytes = randomBytes(40)) {
  const commit = randomCommit();
  const answer = await upload(hub, who, commit, bytes, headers);
  expect(answer.json()).toMatchObject({ commit_sha: commit });
  return { commit, sha256: sha256(bytes), bytes };
}

async function groupsOf(who: Pick<Credential, 'token'>, query = '') {
  const answer = await get(hub, who, `/repositories${query}`);
  expect(answer.status).toBe(200);
  return answer.json()['repositories'] as Record<string, unknown>[];
}

async function refusedWith(who: Credential, headers: Record<string, string>, field: string) {
  const answer = await upload(hub, who, randomCommit(), randomBytes(9), headers);
  expect(answer.status).toBe(422);
  expect(Object.keys(answer.json()['errors'] as object)).toEqual([field]);
  return answer.text;
}

test('[MIR-25] list, latest and groups show the repository, label, base and kind of an upload in any language', async () => {
  const who = await mirrorAccount(hub);
  const repository = repositoryOf('roots');
  const named = {
    'X-Repository-Id': repository,
    'X-Repository-Label': encodeExtValue('인증서 저장소'),
    'X-Uploaded-By': encodeExtValue('빌드서버-7호'),
    'X-Archive-Kind': 'repository',
  };
  const full = await send(who, named);
  const next = await send(who, { ...named, 'X-Archive-Base': full.sha256 });
  const old = await send(who);
  const plain = await send(who, { 'X-Repository-Id': repositoryOf('other'), 'X-Archive-Kind': 'tree' });
  const { blobs } = await listPage(hub, who);
  const shown = {
    uploaded_by: '빌드서버-7호',
    repository_id: repository,
    repository_label: '인증서 저장소',
    archive_kind: 'repository',
  };
  const none = { repository_id: null, repository_label: null, base_sha256: null, archive_kind: null };
  expect(blobs).toEqual([
    expect.objectContaining({ sha256: plain.sha256, repository_label: null, archive_kind: 'tree' }),
    expect.objectContaining({ sha256: old.sha256, uploaded_by: null, ...none }),
    expect.objectContaining({ sha256: next.sha256, ...shown, base_sha256: full.sha256 }),
    expect.objectContaining({ sha256: full.sha256, ...shown, base_sha256: null }),
  ]);
  expect(Object.keys(blobs[0] ?? {})).toEqual([
    'commit_sha',
    'sha256',
    'byte_size',
    'uploaded_at',
    'uploaded_by',
    'repository_id',
    'repository_label',
    'base_sha256',
    'archive_kind',
  ]);
  expect(await latestOf(hub, who)).toMatchObject({ sha256: plain.sha256, archive_kind: 'tree', base_sha256: null });
  const groups = await groupsOf(who);
  expect(groups).toContainEqual(
    expect.objectContaining({
      repository_id: repository,
      repository_label: '인증서 저장소',
      archives: 2,
      bytes: 80,
      newest: expect.objectContaining({ sha256: next.sha256, base_sha256: full.sha256 }),
    }),
  );
  expect(groups.map(({ repository_id, archives }) => [repository_id, archives])).toEqual(
    expect.arrayContaining([
      [null, 1],
      [repository, 2],
      [repositoryOf('other'), 1],
    ]),
  );
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
});

test('[MIR-25] list and latest of one repository, and of uploads without one, with a cursor', async () => {
  const who = await mirrorAccount(hub);
  const [a, b] = [repositoryOf('a'), repositoryOf('b')];
  const sent: Record<string, string[]> = { [a]: [], [b]: [], unknown: [] };
  for (let round = 0; round < 4; round += 1) {
    for (const repository of [a, b])
      sent[repository]?.unshift((await send(who, { 'X-Repository-Id': repository })).sha256);
    sent['unknown']?.unshift((await send(who)).sha256);
  }
  for (const [repository, hashes] of Object.entries(sent)) {
    const found: string[] = [];
    let query: string | undefined = `?repository_id=${repository}&limit=3`;
    let pages = 0;
    while (query !== undefined) {
      const page: Awaited<ReturnType<typeof listPage>> = await listPage(hub, who, query);
      found.push(...page.blobs.map(({ sha256 }) => sha256));
      query = page.next;
      pages += 1;
    }
    expect({ found, pages }).toEqual({ found: hashes, pages: 2 });
    expect((await get(hub, who, `/latest?repository_id=${repository}`)).json()).toMatchObject({ sha256: hashes[0] });
  }
  const foreign = await mirrorAccount(hub);
  expect((await listPage(hub, foreign, `?repository_id=${a}`)).blobs).toEqual([]);
  expect((await get(hub, foreign, `/latest?repository_id=${a}`)).status).toBe(404);
  expect((await get(hub, who, '?repository_id=short')).status).toBe(422);
  expect((await get(hub, who, '/latest?repository_id=short')).status).toBe(422);
});

test('[MIR-25] a base must be an archive of the same repository of this account', async () => {
  const who = await mirrorAccount(hub);
  const repository = repositoryOf('chain');
  const full = await send(who, { 'X-Repository-Id': repository });
  const stranger = await mirrorAccount(hub);
  const base = { 'X-Archive-Base': full.sha256 };
  const text = await refusedWith(who, { 'X-Repository-Id': repositoryOf('else'), ...base }, 'X-Archive-Base');
  expect(text).toContain('not an archive of this repository');
  await refusedWith(stranger, { 'X-Repository-Id': repository, ...base }, 'X-Archive-Base');
  await refusedWith(who, { 'X-Repository-Id': repository, 'X-Archive-Base': 'f'.repeat(64) }, 'X-Archive-Base');
  expect(await refusedWith(who, base, 'X-Archive-Base')).toContain('X-Repository-Id');
  await refusedWith(who, { 'X-Repository-Id': repository, ...base, 'X-Archive-Kind': 'tree' }, 'X-Archive-Base');
  await refusedWith(who, { 'X-Repository-Id': repository.toUpperCase() }, 'X-Repository-Id');
  await refusedWith(who, { 'X-Repository-Id': repository, 'X-Archive-Kind': 'zip' }, 'X-Archive-Kind');
  await refusedWith(
    who,
    { 'X-Repository-Id': repository, 'X-Repository-Label': encodeExtValue('가'.repeat(256)) },
    'X-Repository-Label',
  );
  expect((await upload(hub, who, randomCommit(), full.bytes, { 'X-Repository-Id': repository, ...base })).status).toBe(
    422,
  );
  await send(who, { 'X-Repository-Id': repository, ...base, 'X-Repository-Label': encodeExtValue('가'.repeat(255)) });
});

test('[MIR-25] re-sending bytes after a rotation keeps repository and base, and moves the archive in its group only', async () => {
  const who = await mirrorAccount(hub);
  const repository = repositoryOf('rebound');
  const label = { 'X-Repository-Label': 'site' };
  const full = await send(who, { 'X-Repository-Id': repository, ...label });
  const next = await send(who, { 'X-Repository-Id': repository, ...label, 'X-Archive-Base': full.sha256 });
  const old = await send(who);
  const fresh = await credential(hub, who.mcp_key, true);
  // The base may not be changed to one that builds on it.
  const circle = { 'X-Repository-Id': repository, 'X-Archive-Base': next.sha256 };
  expect((await upload(hub, fresh, full.commit, full.bytes, circle)).status).toBe(200);
  expect((await upload(hub, fresh, old.commit, old.bytes, { 'X-Repository-Id': repository })).status).toBe(200);
  const { blobs } = await listPage(hub, fresh, `?repository_id=${repository}`);
  expect(blobs).toEqual([
    expect.objectContaining({ sha256: old.sha256, base_sha256: null, repository_label: null }),
    expect.objectContaining({ sha256: full.sha256, base_sha256: null, repository_label: 'site' }),
    expect.objectContaining({ sha256: next.sha256, base_sha256: full.sha256 }),
  ]);
  expect((await groupsOf(fresh)).map(({ repository_id, archives, bytes }) => [repository_id, archives, bytes])).toEqual(
    [[repository, 3, 120]],
  );
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
});

test('[MIR-25, MIR-9] a label of which the HTTP library lost bytes is null, with a warning that names its header', async () => {
  const who = await mirrorAccount(hub);
  const answer = await upload(hub, who, randomCommit(), randomBytes(9), {
    'X-Repository-Id': repositoryOf('lost'),
    'X-Repository-Label': Buffer.from('서버').toString('latin1'),
  });
  expect(answer.json()).toMatchObject({ warnings: [expect.stringContaining('X-Repository-Label')] });
  expect((await listPage(hub, who)).blobs).toEqual([expect.objectContaining({ repository_label: null })]);
});

test('[MIR-25] groups come in pages', async () => {
  const who: Account & Credential = await mirrorAccount(hub);
  const ids = ['one', 'two', 'three'].map(repositoryOf).sort();
  for (const id of ids) await send(who, { 'X-Repository-Id': id });
  const answer = await get(hub, who, '/repositories?limit=2');
  expect((answer.json()['repositories'] as { repository_id: string }[]).map((row) => row.repository_id)).toEqual(
    ids.slice(0, 2),
  );
  expect(answer.headers['link']).toBe(`</api/cert_mirror/repositories?limit=2&after=${ids[1] ?? ''}>; rel="next"`);
  expect((await groupsOf(who, `?limit=2&after=${ids[1] ?? ''}`)).map((row) => row['repository_id'])).toEqual([ids[2]]);
});
