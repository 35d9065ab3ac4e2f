/** `cairn follow`: a copy that goes on beside the service; killed at any moment, a restore has what was answered before its time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, statSync, symlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CAIRN, cleanEnvironment, type Hub, runCairn, startHub } from '../support/hub.ts';
import { type Credential, mirrorAccount, randomCommit, upload } from '../support/mirror.ts';
import { listAll, until, verified } from '../support/mirror-state.ts';
import { randomOf } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROUNDS = 2;
const random = randomOf(seed);

let hub: Hub;
let owner: Credential;
let backups: string;
let following: Following | undefined;

interface Step {
  readonly kind: 'whole' | 'new';
  readonly madeAt: string;
  readonly backup: string;
  readonly bytes: number;
}

interface Following {
  readonly process: ChildProcess;
  readonly steps: Step[];
  readonly errors: string[];
  readonly exited: Promise<number | null>;
}

beforeEach(async () => {
  hub = await startHub();
  owner = await mirrorAccount(hub);
  backups = temporaryFolder();
});
afterEach(async () => {
  following?.process.kill('SIGKILL');
  await hub.kill();
});

function follow(...more: string[]): Following {
  const args = [CAIRN, 'follow', '--every', '0.05', '--with-key', '--json', ...more, backups];
  const child = spawn(process.execPath, args, { env: cleanEnvironment({ CAIRN_DATA: hub.dataFolder }) });
  const steps: Step[] = [];
  const errors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => steps.push(JSON.parse(line) as Step));
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  following = {
    process: child,
    steps,
    errors,
    exited: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
  };
  return following;
}

/** Uploads until it is told to stop; resolves with the digests of what was answered, by the time of the answer. */
async function load(goesOn: () => boolean): Promise<Map<string, number>> {
  const answered = new Map<string, number>();
  while (goesOn()) {
    const size = Math.ceil(40_000 ** random());
    const blob = (await upload(hub, owner, randomCommit(), randomBytes(size))).json();
    answered.set(String(blob['sha256']), Date.now());
  }
  return answered;
}

/** Restores and gives the digests that are there, after a check of everything. */
async function restored(...args: string[]): Promise<{ readonly madeAtMs: number; readonly digests: Set<string> }> {
  const folder = temporaryFolder();
  const done = await runCairn(['restore', '--json', ...args], { CAIRN_DATA: folder });
  expect([done.code, done.stderr]).toEqual([0, '']);
  const again = await startHub({ dataFolder: folder });
  try {
    const digests = new Set((await listAll(again, owner)).map(({ sha256 }) => sha256));
    expect(await verified(again)).toMatchObject({ code: 0, ok: true });
    return { madeAtMs: Date.parse(JSON.parse(done.stdout).made_at), digests };
  } finally {
    await again.kill();
  }
}

test(`[OPS-11] cairn follow killed at any moment leaves a copy with every write answered before its time (seed ${seed})`, async () => {
  const answered = new Map<string, number>();
  let wholes = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const follower = follow();
    let runs = true;
    const uploads = Promise.all([0, 1, 2].map(() => load(() => runs)));
    // Awaited below. If this test fails before, the hub is killed under them, which is not another failure.
    uploads.catch(() => undefined);
    await until('it follows', () =>
      follower.steps.filter(({ kind }) => kind === 'new').length > 2 ? true : undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, random() * 300));
    follower.process.kill('SIGKILL');
    await follower.exited;
    runs = false;
    for (const some of await uploads) for (const one of some) answered.set(...one);
    wholes += follower.steps.filter(({ kind }) => kind === 'whole').length;
    const { madeAtMs, digests } = await restored('--at', 'now', backups);
    expect(madeAtMs).toBeGreaterThanOrEqual(Date.parse(follower.steps.at(-1)?.madeAt ?? ''));
    const lost = [...answered].filter(([digest, atMs]) => atMs < madeAtMs && !digests.has(digest));
    expect(lost).toEqual([]);
    // The hub is as mortal as the copy of it.
    await hub.kill();
    hub = await startHub({ dataFolder: hub.dataFolder });
  }
  expect(wholes).toBe(1);
}, 240_000);

test('[OPS-11] cairn follow goes on over a compaction, keeps each moment, and says what is wrong with a damaged one', async () => {
  const sent: string[] = [];
  const send = async () => {
    const blob = (await upload(hub, owner, randomCommit(), randomBytes(20_000))).json();
    sent.push(String(blob['sha256']));
    const after = Date.now();
    await until('it is copied', () => (Date.parse(steps.at(-1)?.madeAt ?? '') > after ? true : undefined)).catch(
      () => undefined,
    );
  };
  const follower = follow();
  const { steps } = follower;
  await until('a whole copy', () => steps[0]);
  const second = await runCairn(['follow', backups], { CAIRN_DATA: hub.dataFolder });
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('another `cairn follow` writes into')]);
  const self = await runCairn(['follow', hub.dataFolder], { CAIRN_DATA: hub.dataFolder });
  expect([self.code, self.stderr]).toEqual([1, expect.stringContaining('is the data folder itself')]);
  const link = join(temporaryFolder(), 'link');
  symlinkSync(hub.dataFolder, link);
  const linked = await runCairn(['follow', link], { CAIRN_DATA: hub.dataFolder });
  expect([linked.code, linked.stderr]).toEqual([1, expect.stringContaining('is the data folder itself')]);
  await send();
  const moment = steps.at(-1)?.madeAt ?? '';
  await send();
  expect(steps.every(({ bytes, kind }) => kind === 'whole' || bytes < 2_000_000)).toBe(true);
  await hub.stop();
  expect((await runCairn(['compact'], { CAIRN_DATA: hub.dataFolder })).code).toBe(0);
  hub = await startHub({ dataFolder: hub.dataFolder });
  await send();
  await until('another whole copy', () => steps.filter(({ kind }) => kind === 'whole')[1]);
  follower.process.kill('SIGTERM');
  expect(await follower.exited).toBe(0);
  expect(follower.errors).toEqual([]);
  expect([...(await restored('--at', moment, backups)).digests]).toEqual(sent.slice(0, 1));
  expect((await restored('--at', 'now', backups)).digests.size).toBe(3);
  const unnamed = await runCairn(['restore', backups], { CAIRN_DATA: temporaryFolder() });
  expect([unnamed.code, unnamed.stderr]).toEqual([1, expect.stringContaining('is a folder of backups; name one')]);
  const [first = ''] = readdirSync(backups).sort();
  const blocks = join(backups, first, 'journal.bin');
  const at = statSync(blocks).size - 5000;
  const byte = readFileSync(blocks)[at] ?? 0;
  const descriptor = openSync(blocks, 'r+');
  writeSync(descriptor, Buffer.of(byte ^ 4), 0, 1, at);
  closeSync(descriptor);
  const damaged = await runCairn(['restore', join(backups, first)], { CAIRN_DATA: temporaryFolder() });
  expect([damaged.code, damaged.stderr]).toEqual([
    1,
    expect.stringMatching(/are damaged; restore a time before it \(--at\)\.\n$/),
  ]);
}, 240_000);
