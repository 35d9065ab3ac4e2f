/** Uploads that fail half-way, too many at once, and a credential that goes while a body arrives. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { call } from '../support/http.ts';
import {
  type Account,
  type Credential,
  credential,
  download,
  mirrorAccount,
  randomCommit,
  sha256,
  upload,
} from '../support/mirror.ts';
import { latestOf, listAll, tookEverything, until, untilNothingStaged, verified } from '../support/mirror-state.ts';
import { RawClient, uploadHead } from '../support/raw-client.ts';
import { useHub } from '../support/use-hub.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Bytes of uploads in memory at once: the least that can be set. One caller's part of it is three quarters. */
const INFLIGHT_BYTES = 80 * MIB;

const hub = useHub({ env: { CAIRN_INFLIGHT_BYTES: String(INFLIGHT_BYTES) } });

/** An upload whose head and first `sent` bytes are with the hub, and whose rest is still to come. */
async function begin(who: Credential, size: number, sent: number) {
  const [commit, bytes] = [randomCommit(), randomBytes(size)];
  const client = await RawClient.open(hub);
  await client.send(uploadHead(who, commit, bytes));
  await client.send(bytes.subarray(0, sent));
  await tookEverything(hub);
  return { commit, bytes, client, finish: () => client.send(bytes.subarray(sent)) };
}

test('[MIR-16] uploads that are cut off anywhere leave no staged byte and no row', async () => {
  const who = await mirrorAccount(hub);
  const kept = { commit: randomCommit(), bytes: randomBytes(70_000) };
  await upload(hub, who, kept.commit, kept.bytes);
  const before = await listAll(hub, who);
  const cuts: [number, number][] = [
    [3 * MIB, 0],
    [3 * MIB, 1],
    [3 * MIB, MIB - 1],
    [3 * MIB, MIB],
    [3 * MIB, 2.5 * MIB],
    [3 * MIB, 3 * MIB - 1],
    [9 * MIB, 8.5 * MIB],
    [1000, 999],
  ];
  for (const [size, sent] of cuts) {
    const { client, commit } = await begin(who, size, sent);
    client.socket.resetAndDestroy();
    await client.closed;
    expect((await download(hub, who, commit)).status).toBe(404);
  }
  expect(await untilNothingStaged(hub)).toMatchObject({ ok: true, problems: [] });
  expect(await listAll(hub, who)).toEqual(before);
  // What they held is free again: the largest upload is taken.
  const large = randomBytes(50 * MIB);
  const taken = await until('the whole budget is free', async () => {
    const answer = await upload(hub, who, randomCommit(), large);
    return answer.status === 503 ? undefined : answer.status;
  });
  expect(taken).toBe(200);
});

test('[MIR-16] an upload that ends in 422 leaves no staged byte', async () => {
  const who = await mirrorAccount(hub);
  const bytes = randomBytes(5 * MIB);
  const headers = { 'X-Mirror-Signature': `sha256=${'0'.repeat(64)}` };
  expect((await upload(hub, who, randomCommit(), bytes, headers)).status).toBe(422);
  expect(await untilNothingStaged(hub)).toMatchObject({ ok: true, problems: [] });
  expect(await listAll(hub, who)).toEqual([]);
});

test('[MIR-16] staged bytes are seen while an upload runs, and belong to its blob when it ends', async () => {
  const who = await mirrorAccount(hub);
  const running = await begin(who, 4 * MIB, 3.5 * MIB);
  await until('three chunks are staged', async () => {
    const report = await verified(hub);
    expect(report.problems).toEqual([]);
    return report.staged_uploads === 1 ? true : undefined;
  });
  expect(await latestOf(hub, who)).toBeUndefined();
  await running.finish();
  expect((await running.client.answer())?.status).toBe(200);
  running.client.destroy();
  expect(await verified(hub)).toMatchObject({ ok: true, staged_uploads: 0 });
  expect((await download(hub, who, running.commit)).bytes.equals(running.bytes)).toBe(true);
});

test('[MIR-17] uploads hold what has arrived and is not on disk yet; above it 503 with Retry-After', async () => {
  const who = await mirrorAccount(hub);
  // Bodies of this size stay in memory until they are whole.
  const size = 64 * KIB;
  const most = (INFLIGHT_BYTES * 3) / 4 / size;
  const running = await Promise.all(
    Array.from({ length: most }, async () => {
      const [commit, bytes] = [randomCommit(), randomBytes(size)];
      const client = await RawClient.open(hub);
      await client.send(uploadHead(who, commit, bytes));
      await client.send(bytes.subarray(0, 1));
      return { commit, bytes, client };
    }),
  );
  await tookEverything(hub);
  for (const more of [1, size, 12 * MIB, 50 * MIB]) {
    const refused = await RawClient.open(hub);
    await refused.send(uploadHead(who, randomCommit(), Buffer.alloc(more)));
    const answer = await refused.answer();
    refused.destroy();
    expect(answer?.status).toBe(503);
    expect(Number(answer?.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer?.json()).toEqual({ error: expect.stringMatching(/busy.*try again/) });
  }
  // Everything but uploads goes on, and so do small uploads of others.
  expect((await call(hub, '/health')).status).toBe(200);
  expect(await listAll(hub, who)).toEqual([]);
  expect((await upload(hub, await mirrorAccount(hub), randomCommit(), randomBytes(MIB))).status).toBe(200);
  for (const { client, bytes } of running) await client.send(bytes.subarray(1));
  for (const { client, bytes } of running) {
    expect((await client.answer())?.json()).toMatchObject({ sha256: sha256(bytes) });
    client.destroy();
  }
  const next = { commit: randomCommit(), bytes: randomBytes(45 * MIB) };
  expect((await upload(hub, who, next.commit, next.bytes)).status).toBe(200);
  expect((await listAll(hub, who)).length).toBe(most + 1);
});

test.each([
  ['rotated', 40_000],
  ['rotated', 3 * MIB],
  ['destroyed', 40_000],
  ['destroyed', 3 * MIB],
])('[MIR-3, MIR-16] a credential that is %s while %i bytes arrive: 401, and nothing is stored', async (how, size) => {
  const who = await mirrorAccount(hub);
  const running = await begin(who, size, size - 100);
  const current = how === 'rotated' ? await credential(hub, who.mcp_key, true) : await destroyAndIssue(who);
  await running.finish();
  const answer = await running.client.answer();
  running.client.destroy();
  expect(answer?.status).toBe(401);
  expect(answer?.headers['www-authenticate']).toMatch(/^McpKey/);
  expect(await listAll(hub, current)).toEqual([]);
  expect(await latestOf(hub, current)).toBeUndefined();
  expect(await untilNothingStaged(hub)).toMatchObject({ ok: true, problems: [] });
});

async function destroyAndIssue(who: Account): Promise<Credential> {
  const headers = { Authorization: `McpKey ${who.mcp_key}` };
  await call(hub, '/api/cert_mirror/credentials', { method: 'DELETE', headers });
  return credential(hub, who.mcp_key);
}

test('[MIR-11, MIR-17] eighty uploads at once on one account land, each 503 sent again, in one strict order', async () => {
  const who = await mirrorAccount(hub);
  const sizes = [100, 30_000, 65_536, 65_537, 400_000, MIB + 1, 2 * MIB, 100_000];
  const sent = Array.from({ length: 80 }, (_, at) => ({
    commit: randomCommit(),
    bytes: randomBytes(sizes[at % sizes.length] ?? 1),
  }));
  await Promise.all(
    sent.map(({ commit, bytes }) =>
      until('the upload is taken', async () => {
        const answer = await upload(hub, who, commit, bytes).catch(() => undefined);
        // A refusal may close the connection while the body is still on its way; then there is no answer to read.
        if (answer === undefined || answer.status === 503) return undefined;
        expect(answer.status).toBe(200);
        return true;
      }),
    ),
  );
  const listed = await listAll(hub, who);
  expect(listed.map((blob) => blob.commit_sha).toSorted()).toEqual(sent.map(({ commit }) => commit).toSorted());
  expect(await listAll(hub, who, 7)).toEqual(listed);
  const times = listed.map((blob) => blob.uploaded_at);
  expect(times).toEqual(times.toSorted().toReversed());
  for (const { commit, bytes } of sent) expect((await download(hub, who, commit)).bytes.equals(bytes)).toBe(true);
  expect(await untilNothingStaged(hub)).toMatchObject({ ok: true, problems: [] });
});
