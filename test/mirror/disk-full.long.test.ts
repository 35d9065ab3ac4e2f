/** A data folder that runs full: uploads are refused clearly, nothing of them is kept, and the service goes on. */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { type Answer, call } from '../support/http.ts';
import type { Hub } from '../support/hub.ts';
import { type Account, type Credential, download, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { latestOf, listAll, until, untilNothingStaged, verified } from '../support/mirror-state.ts';
import { canUnshare, startHubOnSmallDisk } from '../support/small-disk.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** 16 of them are the reserve that only removing may touch. */
const DISK_MIB = 40;

let hub: Hub | undefined;
afterEach(async () => {
  await hub?.kill();
  hub = undefined;
});

interface Kept {
  readonly commit: string;
  readonly bytes: Buffer;
}

/** Uploads blobs of one size until one is refused; gives what was kept and the refusal. */
async function fill(on: Hub, who: Credential, size: number) {
  const kept: Kept[] = [];
  for (;;) {
    const [commit, bytes] = [randomCommit(), randomBytes(size)];
    const answer = await upload(on, who, commit, bytes);
    if (answer.status !== 200) return { kept, refused: answer, commit };
    kept.push({ commit, bytes });
    if (kept.length * size > DISK_MIB * MIB) throw new Error('more fits on the disk than it has');
  }
}

function expectFull(answer: Answer): void {
  expect(answer.status).toBe(507);
  expect(answer.json()).toEqual({ error: expect.stringMatching(/full.*nothing was saved/i) });
}

async function expectKept(on: Hub, who: Credential, kept: readonly Kept[]): Promise<void> {
  expect((await listAll(on, who)).map((blob) => blob.commit_sha)).toEqual(
    kept.map(({ commit }) => commit).toReversed(),
  );
  expect(await latestOf(on, who)).toMatchObject({ commit_sha: kept.at(-1)?.commit });
  for (const { commit, bytes } of kept) {
    expect((await download(on, who, commit)).bytes.equals(bytes)).toBe(true);
  }
}

/** The store never ran into the end of the disk: it was told before. */
function expectNoWriteFailed(on: Hub): void {
  expect(on.stderr()).toBe('');
}

async function start(): Promise<{ on: Hub; who: Account & Credential }> {
  const on = await startHubOnSmallDisk(DISK_MIB);
  hub = on;
  return { on, who: await mirrorAccount(on) };
}

test.runIf(canUnshare)(
  '[OPS-2, MIR-16] a large upload that does not fit is 507 and leaves its space free',
  async () => {
    const { on, who } = await start();
    const { kept, refused, commit } = await fill(on, who, 5 * MIB);
    expect(kept.length).toBeGreaterThan(1);
    expectFull(refused);
    expect((await download(on, who, commit)).status).toBe(404);
    await expectKept(on, who, kept);
    expect((await call(on, '/health')).status).toBe(200);
    expect((await untilNothingStaged(on)).problems).toEqual([]);
    // The refused upload had staged some of its five chunks: what fits without them fits again.
    const smaller = { commit: randomCommit(), bytes: randomBytes(MIB) };
    await until('a smaller upload fits', async () => {
      const answer = await upload(on, who, smaller.commit, smaller.bytes);
      if (answer.status === 200) return true;
      expectFull(answer);
      return undefined;
    });
    await expectKept(on, who, [...kept, smaller]);
    // And again and again: a refused upload costs nothing for good.
    for (let count = 0; count < 3; count += 1) expectFull(await upload(on, who, randomCommit(), randomBytes(12 * MIB)));
    expect(await untilNothingStaged(on)).toMatchObject({ ok: true, blobs: kept.length + 1 });
    await expectKept(on, who, [...kept, smaller]);
    expectNoWriteFailed(on);
  },
);

test.runIf(canUnshare)(
  '[OPS-2] small uploads until the disk is full end in 507, and all that was answered stays',
  async () => {
    const { on, who } = await start();
    const { kept, refused, commit } = await fill(on, who, 64 * KIB);
    expect(kept.length).toBeGreaterThan(100);
    expectFull(refused);
    expect((await download(on, who, commit)).status).toBe(404);
    await expectKept(on, who, kept);
    for (let count = 0; count < 5; count += 1) expectFull(await upload(on, who, randomCommit(), randomBytes(64 * KIB)));
    await expectKept(on, who, kept);
    expect(await verified(on)).toMatchObject({ code: 0, ok: true, blobs: kept.length, staged_uploads: 0 });
    expectNoWriteFailed(on);
  },
);

test.runIf(canUnshare)(
  '[OPS-2] many uploads at once onto a disk that fills: each is kept whole or is 507',
  async () => {
    const { on, who } = await start();
    const sizes = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 2 * MIB : 60 * KIB));
    const results = await Promise.all(
      sizes.map(async (size) => {
        const blob = { commit: randomCommit(), bytes: randomBytes(size) };
        return { ...blob, answer: await upload(on, who, blob.commit, blob.bytes) };
      }),
    );
    const kept = results.filter(({ answer }) => answer.status === 200);
    const refused = results.filter(({ answer }) => answer.status !== 200);
    expect(kept.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(0);
    for (const { answer } of refused) expectFull(answer);
    const listed = (await listAll(on, who)).map((blob) => blob.commit_sha);
    expect(listed.toSorted()).toEqual(kept.map(({ commit }) => commit).toSorted());
    for (const { commit, bytes } of kept) expect((await download(on, who, commit)).bytes.equals(bytes)).toBe(true);
    expect(await untilNothingStaged(on)).toMatchObject({ ok: true, blobs: kept.length });
    expectNoWriteFailed(on);
  },
);
