/** What an upload does to what is there, and what list and latest show of it. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { call } from '../support/http.ts';
import {
  type Account,
  type Credential,
  credential,
  download,
  get,
  mirrorAccount,
  randomCommit,
  sha256,
  upload,
} from '../support/mirror.ts';
import { latestOf, listAll, listPage, UNGROUPED, verified } from '../support/mirror-state.ts';
import { useHub } from '../support/use-hub.ts';

const hub = useHub();

/** Uploads new bytes under a new commit. */
async function add(who: Credential, size = 40) {
  const commit = randomCommit();
  const bytes = randomBytes(size);
  const answer = await upload(hub, who, commit, bytes);
  if (answer.status !== 200) throw new Error(`upload answered ${answer.status}: ${answer.text}`);
  return { commit, bytes, answer: answer.json() };
}

async function destroyCredential(who: Account): Promise<void> {
  const headers = { Authorization: `McpKey ${who.mcp_key}` };
  const answer = await call(hub, '/api/cert_mirror/credentials', { method: 'DELETE', headers });
  if (answer.status !== 200) throw new Error(`destroy answered ${answer.status}`);
}

/** Resolves when the clock shows another millisecond than now. */
async function nextMillisecond(): Promise<void> {
  const now = Date.now();
  while (Date.now() === now) await new Promise((resolve) => setTimeout(resolve, 1));
}

test.each([40, 70_000])('[MIR-10] %i bytes again are a retry: the stored answer, nothing reordered', async (size) => {
  const who = await mirrorAccount(hub);
  const first = await add(who, size);
  const second = await add(who, size);
  const before = await listAll(hub, who);
  await nextMillisecond();
  const retried = await upload(hub, who, first.commit, first.bytes, { 'X-Uploaded-By': 'somebody else' });
  expect({ status: retried.status, body: retried.json() }).toEqual({ status: 200, body: first.answer });
  expect(await listAll(hub, who)).toEqual(before);
  expect(await latestOf(hub, who)).toMatchObject({ commit_sha: second.commit });
  expect((await download(hub, who, first.commit)).bytes.equals(first.bytes)).toBe(true);
});

test.each([40, 70_000])('[MIR-10] %i bytes sent eight times at once are one blob with one time', async (size) => {
  const who = await mirrorAccount(hub);
  const [commit, bytes] = [randomCommit(), randomBytes(size)];
  const answers = await Promise.all(Array.from({ length: 8 }, () => upload(hub, who, commit, bytes)));
  expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200));
  expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  expect(await listAll(hub, who)).toHaveLength(1);
  expect((await download(hub, who, commit)).bytes.equals(bytes)).toBe(true);
  expect(await verified(hub)).toMatchObject({ code: 0, problems: [] });
});

test.each([40, 70_000])(
  '[MIR-10, MIR-14] %i bytes again after a rotation count as uploaded now and open again',
  async (size) => {
    const who = await mirrorAccount(hub);
    const first = await add(who, size);
    const second = await add(who, size);
    const rotated = await credential(hub, who.mcp_key, true);
    await nextMillisecond();
    const again = await upload(hub, rotated, first.commit, first.bytes, { 'X-Uploaded-By': 'second round' });
    expect(again.status).toBe(200);
    const { uploaded_at, ...rest } = again.json();
    const { uploaded_at: former, ...sameRest } = first.answer;
    expect(rest).toEqual(sameRest);
    expect(String(uploaded_at) > String(former)).toBe(true);
    expect(await listAll(hub, rotated)).toEqual([
      { ...again.json(), uploaded_by: 'second round', ...UNGROUPED },
      { ...second.answer, uploaded_by: null, ...UNGROUPED },
    ]);
    expect(await latestOf(hub, rotated)).toMatchObject({ commit_sha: first.commit, uploaded_at });
    expect((await download(hub, rotated, first.commit)).bytes.equals(first.bytes)).toBe(true);
    expect((await download(hub, rotated, second.commit)).status).toBe(422);
    expect((await upload(hub, rotated, first.commit, first.bytes)).json()).toEqual(again.json());
  },
);

test('[MIR-10] other bytes for a commit are another blob; the newest wins and sha256 picks the older', async () => {
  const who = await mirrorAccount(hub);
  const commit = randomCommit();
  const [older, newer] = [randomBytes(70_000), randomBytes(50)];
  for (const bytes of [older, newer]) expect((await upload(hub, who, commit, bytes)).status).toBe(200);
  expect((await listAll(hub, who)).map((blob) => [blob.commit_sha, blob.sha256])).toEqual([
    [commit, sha256(newer)],
    [commit, sha256(older)],
  ]);
  expect((await download(hub, who, commit)).bytes.equals(newer)).toBe(true);
  for (const bytes of [older, newer]) {
    const picked = await get(hub, who, `/${commit}/download?sha256=${sha256(bytes)}`);
    expect(picked.headers['x-tarball-sha256']).toBe(sha256(bytes));
    expect(picked.bytes.equals(bytes)).toBe(true);
    const upper = await get(hub, who, `/${commit}/download?sha256=${sha256(bytes).toUpperCase()}`);
    expect(upper.bytes.equals(bytes)).toBe(true);
  }
  // A retry of the older one changes nothing; bound to a new credential it is the newest.
  await upload(hub, who, commit, older);
  expect((await download(hub, who, commit)).bytes.equals(newer)).toBe(true);
  const rotated = await credential(hub, who.mcp_key, true);
  await upload(hub, rotated, commit, older);
  expect((await download(hub, rotated, commit)).bytes.equals(older)).toBe(true);
  expect((await get(hub, rotated, `/${commit}/download?sha256=${sha256(newer)}`)).status).toBe(422);
});

test('[MIR-10] the same bytes under two commits are two blobs', async () => {
  const who = await mirrorAccount(hub);
  const bytes = randomBytes(100);
  const commits = [randomCommit(), randomCommit()];
  for (const commit of commits) expect((await upload(hub, who, commit, bytes)).status).toBe(200);
  expect((await listAll(hub, who)).map((blob) => blob.commit_sha)).toEqual(commits.toReversed());
});

test('[MIR-11, MIR-12] an account without blobs lists none and has no latest', async () => {
  const who = await mirrorAccount(hub);
  const list = await get(hub, who, '');
  expect({ status: list.status, text: list.text }).toEqual({ status: 200, text: '{"blobs":[]}' });
  expect(list.headers['link']).toBeUndefined();
  const latest = await get(hub, who, '/latest');
  expect({ status: latest.status, body: latest.json() }).toEqual({ status: 404, body: { error: 'no blobs yet' } });
});

test('[MIR-11, MIR-12] list is newest first with its fields, latest has its own', async () => {
  const who = await mirrorAccount(hub);
  const added = [];
  for (let count = 0; count < 5; count += 1) added.push(await add(who));
  expect(await listAll(hub, who)).toEqual(
    added.toReversed().map(({ answer }) => ({ ...answer, uploaded_by: null, ...UNGROUPED })),
  );
  const last = added.at(-1);
  const latest = await get(hub, who, '/latest');
  expect(latest.json()).toEqual({
    ...last?.answer,
    download_url: `/api/cert_mirror/${last?.commit}/download`,
    ...UNGROUPED,
  });
  const followed = await call(hub, String(latest.json()['download_url']), {
    headers: { Authorization: `McpKey ${who.token}` },
  });
  expect(followed.bytes.equals(last?.bytes ?? Buffer.alloc(0))).toBe(true);
});

test('[MIR-11] list and latest answer HEAD with the length that GET has', async () => {
  const who = await mirrorAccount(hub);
  await add(who);
  for (const path of ['', '/latest']) {
    const full = await get(hub, who, path);
    const headers = { Authorization: `McpKey ${who.token}` };
    const head = await call(hub, `/api/cert_mirror${path}`, { method: 'HEAD', headers });
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(full.headers['content-length']);
    expect(head.bytes).toHaveLength(0);
  }
});

test.each(['0', '-1', '1001', '1e2', '1.5', 'all', '', ' 5', '999999999999999999999'])(
  '[MIR-11] limit=%j is 422 under its name',
  async (limit) => {
    const who = await shared();
    const answer = await get(hub, who, `?limit=${encodeURIComponent(limit)}`);
    expect({ status: answer.status, body: answer.json() }).toEqual({
      status: 422,
      body: { error: expect.stringContaining('1000'), errors: { limit: [expect.stringContaining('limit')] } },
    });
  },
);

test('[MIR-11] a limit holds exactly, and Link is there only when there is more', async () => {
  const who = await shared();
  const all = await listAll(hub, who);
  expect(all).toHaveLength(7);
  for (const limit of [1, 6, 7, 8, 1000]) {
    const page = await listPage(hub, who, `?limit=${limit}`);
    expect(page.blobs).toEqual(all.slice(0, limit));
    expect(page.next !== undefined).toBe(limit < all.length);
    if (page.next !== undefined) {
      expect(await listPage(hub, who, page.next)).toMatchObject({ blobs: all.slice(limit, 2 * limit) });
    }
    expect(await listAll(hub, who, limit)).toEqual(all);
  }
});

let sharedAccount: Promise<Credential> | undefined;

/** An account with seven blobs that no test changes. */
function shared(): Promise<Credential> {
  sharedAccount ??= mirrorAccount(hub).then(async (who) => {
    for (let count = 0; count < 7; count += 1) await add(who);
    return who;
  });
  return sharedAccount;
}

test('[MIR-11] pages show each blob once and leave none out while new ones come in', async () => {
  const who = await mirrorAccount(hub);
  const added: string[] = [];
  for (let count = 0; count < 20; count += 1) added.push((await add(who)).commit);
  const seen: string[] = [];
  let query: string | undefined = '?limit=3';
  while (query !== undefined) {
    const page: Awaited<ReturnType<typeof listPage>> = await listPage(hub, who, query);
    seen.push(...page.blobs.map((blob) => blob.commit_sha));
    query = page.next;
    // Between any two pages more arrives, at the front.
    await Promise.all([add(who), add(who)]);
  }
  expect(seen).toEqual(added.toReversed());
});

test('[MIR-11] more than a thousand blobs come in pages of a thousand', async () => {
  const who = await mirrorAccount(hub);
  const total = 1003;
  const commits = Array.from({ length: total }, (_, at) => at.toString(16).padStart(40, '0'));
  const bytes = Buffer.from('the same for all');
  const waiting = [...commits];
  const sender = async () => {
    for (let commit = waiting.pop(); commit !== undefined; commit = waiting.pop()) {
      expect((await upload(hub, who, commit, bytes)).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 32 }, sender));
  const first = await listPage(hub, who);
  expect(first.blobs).toHaveLength(1000);
  const second = await listPage(hub, who, first.next ?? 'no next page');
  expect({ length: second.blobs.length, next: second.next }).toEqual({ length: 3, next: undefined });
  const all = [...first.blobs, ...second.blobs];
  expect(new Set(all.map((blob) => blob.commit_sha)).size).toBe(total);
  const times = all.map((blob) => blob.uploaded_at);
  expect(times).toEqual(times.toSorted().toReversed());
});

test('[MIR-14] blobs of a rotated credential are 422, and stay in list and latest', async () => {
  const who = await mirrorAccount(hub);
  const { commit, bytes, answer } = await add(who);
  const rotated = await credential(hub, who.mcp_key, true);
  for (const path of [`/${commit}/download`, `/${commit}/download?sha256=${sha256(bytes)}`]) {
    const refused = await get(hub, rotated, path);
    expect(refused.status).toBe(422);
    expect(refused.json()['error']).toMatch(/HMAC.*not lost.*upload the file .* again/);
    expect(refused.bytes.includes(bytes)).toBe(false);
  }
  for (const headers of [{ Range: 'bytes=0-1' }, { 'If-None-Match': `"${sha256(bytes)}"` }]) {
    expect((await download(hub, rotated, commit, headers)).status).toBe(422);
  }
  expect(await listAll(hub, rotated)).toEqual([{ ...answer, uploaded_by: null, ...UNGROUPED }]);
  expect(await latestOf(hub, rotated)).toMatchObject({ commit_sha: commit, uploaded_at: answer['uploaded_at'] });
});

test('[MIR-14, MIR-5] blobs of a destroyed credential wait for a new one and another upload', async () => {
  const who = await mirrorAccount(hub);
  const { commit, bytes, answer } = await add(who, 70_000);
  await destroyCredential(who);
  expect((await download(hub, who, commit)).status).toBe(401);
  const fresh = await credential(hub, who.mcp_key);
  expect((await download(hub, fresh, commit)).status).toBe(422);
  expect(await listAll(hub, fresh)).toEqual([{ ...answer, uploaded_by: null, ...UNGROUPED }]);
  expect((await upload(hub, fresh, commit, bytes)).status).toBe(200);
  expect((await download(hub, fresh, commit)).bytes.equals(bytes)).toBe(true);
  expect(await listAll(hub, fresh)).toHaveLength(1);
});

test('[KEY-8] another account sees no blob, and the same upload is a blob of its own', async () => {
  const [owner, other] = [await mirrorAccount(hub), await mirrorAccount(hub)];
  const { commit, bytes } = await add(owner);
  const foreign = await download(hub, other, commit);
  const unknown = await download(hub, other, randomCommit());
  expect({ status: foreign.status, text: foreign.text }).toEqual({ status: 404, text: unknown.text });
  expect((await get(hub, other, `/${commit}/download?sha256=${sha256(bytes)}`)).text).toBe(unknown.text);
  expect(await listAll(hub, other)).toEqual([]);
  expect(await latestOf(hub, other)).toBeUndefined();
  expect((await upload(hub, other, commit, bytes)).status).toBe(200);
  await credential(hub, owner.mcp_key, true);
  expect((await download(hub, other, commit)).bytes.equals(bytes)).toBe(true);
});

test('[MIR-7] times never run backwards within an account, in any order of answers', async () => {
  const who = await mirrorAccount(hub);
  const sizes = Array.from({ length: 40 }, (_, at) => [10, 66_000, 1_100_000][at % 3] ?? 1);
  await Promise.all(sizes.map((size) => add(who, size)));
  const listed = await listAll(hub, who, 9);
  expect(listed).toHaveLength(sizes.length);
  const times = listed.map((blob) => blob.uploaded_at);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(await latestOf(hub, who)).toMatchObject({ commit_sha: listed[0]?.commit_sha });
  // What was answered before another was sent stands after it.
  const next = await add(who);
  expect((await listAll(hub, who)).map((blob) => blob.commit_sha)).toEqual([
    next.commit,
    ...listed.map((blob) => blob.commit_sha),
  ]);
});
