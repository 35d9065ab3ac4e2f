/** Blobs whose stored bytes are damaged: never given out, told of, and mended by the next upload of the same bytes. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { flip } from '../support/flip.ts';
import { call } from '../support/http.ts';
import { type Hub, startHub } from '../support/hub.ts';
import { scrape } from '../support/metrics.ts';
import {
  type Account,
  type Credential,
  credential,
  download,
  mirrorAccount,
  randomCommit,
  upload,
} from '../support/mirror.ts';
import { listAll, verified } from '../support/mirror-state.ts';

const METRICS = 'metrics-token-of-a-test';
let hub: Hub;
let owner: Account & Credential;

beforeEach(async () => {
  hub = await startHub({ env: { CAIRN_METRICS_TOKEN: METRICS } });
  owner = await mirrorAccount(hub);
});
afterEach(() => hub.kill());

/** An upload, one bit of which is then flipped in the data file of the running hub. */
async function damaged(bytes: Buffer, at: number): Promise<string> {
  const commit = randomCommit();
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  flip(hub.dataFolder, bytes.subarray(at, at + 64));
  return commit;
}

const counted = async (name: string): Promise<number> =>
  (await scrape(hub.url, { Authorization: `Bearer ${METRICS}` })).sum(name);

test.each([
  [5000, 'never read'],
  [65_536, 'never read'],
  [65_536, 'read before'],
])('[MIR-19] a damaged blob of %i bytes, %s, is 500, and healed by its bytes', async (size, reads) => {
  const bytes = randomBytes(size);
  const commit = randomCommit();
  const other = randomCommit();
  await upload(hub, owner, other, Buffer.from('another blob'));
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  const listed = await listAll(hub, owner);
  if (reads === 'read before') expect((await download(hub, owner, commit)).bytes.equals(bytes)).toBe(true);
  flip(hub.dataFolder, bytes.subarray(size - 64), 63);
  for (const headers of [{}, { Range: 'bytes=0-9' }]) {
    const answer = await download(hub, owner, commit, headers);
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining('damaged')]);
  }
  await hub.waitForLog((line) => line['damaged'] === 'blob' && line['commit_sha'] === commit && line['level'] === 50);
  expect(await counted('cairn_damage_found_total')).toBe(2);
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  expect((await download(hub, owner, commit)).bytes.equals(bytes)).toBe(true);
  expect(await listAll(hub, owner)).toEqual(listed);
  expect(await verified(hub)).toMatchObject({ ok: true, staged_uploads: 0 });
  expect(await counted('cairn_damage_healed_total')).toBe(1);
});

test('[MIR-19] no part of bytes that were found damaged is sent, also a moment after one that was whole', async () => {
  const bytes = randomBytes(3_000_000);
  const commit = randomCommit();
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  const part = { Range: 'bytes=10-19' };
  expect((await download(hub, owner, commit, part)).status).toBe(206);
  flip(hub.dataFolder, bytes.subarray(0, 64));
  await expect(download(hub, owner, commit)).rejects.toThrow();
  expect((await download(hub, owner, commit, part)).status).toBe(500);
});

test.each([0, 1_500_000, 3_000_000 - 64])(
  '[MIR-19] a download of damaged bytes (at %i) ends before its last byte',
  async (at) => {
    const bytes = randomBytes(3_000_000);
    const commit = await damaged(bytes, at);
    await expect(download(hub, owner, commit)).rejects.toThrow();
    expect((await download(hub, owner, commit, { Range: 'bytes=10-19' })).status).toBe(500);
    expect((await call(hub, '/health')).status).toBe(200);
    expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
    expect((await download(hub, owner, commit)).bytes.equals(bytes)).toBe(true);
    expect((await download(hub, owner, commit, { Range: 'bytes=10-19' })).bytes.equals(bytes.subarray(10, 20))).toBe(
      true,
    );
    expect(await verified(hub)).toMatchObject({ ok: true, staged_uploads: 0 });
  },
);

test('[MIR-19] damage ends downloads of a blob that was sent before, again and again', async () => {
  const bytes = randomBytes(2_500_000);
  const commit = randomCommit();
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  for (let times = 0; times < 4; times += 1) {
    const sent = await Promise.all([download(hub, owner, commit), download(hub, owner, commit)]);
    for (const answer of sent) expect(answer.bytes.equals(bytes)).toBe(true);
  }
  flip(hub.dataFolder, bytes.subarray(2_400_000, 2_400_064));
  // What was verified a moment ago may be sent from memory once more: it is whole then.
  await expect
    .poll(() =>
      download(hub, owner, commit).then(
        (answer) => answer.bytes.equals(bytes),
        () => 'ended early',
      ),
    )
    .toBe('ended early');
  await expect(download(hub, owner, commit)).rejects.toThrow();
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  expect((await download(hub, owner, commit)).bytes.equals(bytes)).toBe(true);
});

test('[MIR-19] a damaged blob is healed under a new credential too, and takes its new place', async () => {
  const bytes = randomBytes(300_000);
  const commit = await damaged(bytes, 100_000);
  const later = randomCommit();
  await upload(hub, owner, later, Buffer.from('later'));
  owner = { ...owner, ...(await credential(hub, owner.mcp_key, true)) };
  expect((await upload(hub, owner, commit, bytes)).status).toBe(200);
  expect((await download(hub, owner, commit)).bytes.equals(bytes)).toBe(true);
  expect((await listAll(hub, owner)).map(({ commit_sha }) => commit_sha)).toEqual([commit, later]);
  expect(await verified(hub)).toMatchObject({ ok: true, staged_uploads: 0 });
});
