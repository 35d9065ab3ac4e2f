/** The disk fails in the middle of things: what is answered is true, and the service goes on or ends with a word. */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { beginFault } from '../support/disk-fault.ts';
import { FaultTrial, type Told } from '../support/fault-trial.ts';
import { call } from '../support/http.ts';
import type { Hub } from '../support/hub.ts';
import { canUnshare, startHubOnSmallDisk } from '../support/small-disk.ts';
import { canTrace } from '../support/strace.ts';
import { succeeds } from '../support/succeeds.ts';

let trial: FaultTrial | undefined;
afterEach(async () => {
  await trial?.place.hub.kill();
  trial = undefined;
});

/** Whether this machine can limit the files of a running process. */
const canLimit = succeeds('prlimit', '--pid', String(process.pid), '--fsize');

function isRunning({ process: { exitCode, signalCode } }: Hub): boolean {
  return exitCode === null && signalCode === null;
}

/**
 * Reads while the disk fails; undefined when that ends the hub: the store's library may overrun a buffer of its own where a
 * page could not be written. Such a hub refuses connections before its process has ended.
 */
async function readMeanwhile(trial: FaultTrial): Promise<{ status: number; problems: string[] } | undefined> {
  const { hub } = trial.place;
  const ended = new Promise<undefined>((resolve) => hub.process.once('exit', () => resolve(undefined)));
  if (!isRunning(hub)) return undefined;
  const read = async () => ({ status: (await call(hub, '/health')).status, problems: await trial.problems() });
  // A hub that refuses connections and goes on running is waited for until the test's time is over.
  return await read().catch(() => ended);
}

/** 16 of them are the reserve of the hub. */
const DISK_MIB = 28;

/** How large a file may become by a hub's writes, in bytes. */
function limitFiles(hub: Hub, bytes: string): void {
  execFileSync('prlimit', ['--pid', String(hub.process.pid), `--fsize=${bytes}:unlimited`]);
}

const FULL = {
  status: 507,
  text: expect.stringMatching(/disk is full, so nothing was saved; ask the operator to free space, then send it/),
};
const BROKEN = {
  status: 500,
  text: expect.stringMatching(/disk failed, so nothing was saved; the operator must check the log/),
};

const IN_THE_LOG = 'a commit failed on the disk and was discarded';

/** A write of which nothing counts is all that strace can make of a short one. */
const FAULTS = [
  ['ENOSPC where pages are written', 'pwrite64,writev:error=ENOSPC', FULL],
  ['EDQUOT at the flush', 'fdatasync:error=EDQUOT', FULL],
  ['EIO where pages are written', 'pwrite64,writev:error=EIO', BROKEN],
  ['EIO at the flush', 'fdatasync:error=EIO', BROKEN],
  ['short writes', 'pwrite64,writev:retval=100', BROKEN],
] as const;

test.runIf(canTrace).each(FAULTS)(
  '[OPS-2] %s: every write is refused with what to do, none is half there, and the hub goes on after it',
  async (_name, rule, refusal) => {
    trial = await FaultTrial.start();
    const { hub } = trial.place;
    const fault = await beginFault(hub, rule);
    for (const { what, answer } of await trial.tryWrites()) {
      if (answer !== undefined) expect([what, answer]).toEqual([what, expect.objectContaining(refusal)]);
    }
    const read = await readMeanwhile(trial);
    if (read !== undefined) expect(read).toEqual({ status: 200, problems: [] });
    expect((await fault.end()).length).toBeGreaterThan(0);
    if (read === undefined) await trial.startAgain();
    else await hub.waitForLog((line) => line['level'] === 50 && line['msg'] === IN_THE_LOG);
    for (const { what, answer } of await trial.tryWrites()) expect([what, answer?.status]).toEqual([what, 200]);
    expect(await trial.problems()).toEqual([]);
    await trial.startAgain();
    expect(await trial.problems()).toEqual([]);
  },
);

test.runIf(canUnshare)(
  '[OPS-2] a disk that stays full costs nothing but the writes, however many are tried at once',
  async () => {
    const full = await FaultTrial.start(await startHubOnSmallDisk(DISK_MIB));
    trial = full;
    const { hub } = trial.place;
    const told: Told[] = [];
    for (let round = 0; round < 12; round += 1) {
      const clients = Array.from({ length: 6 }, () => full.tryNewThings());
      told.push(...(await Promise.all(clients)).flat());
    }
    const refused = told.filter(({ answer }) => answer?.status !== 200);
    expect(refused.length).toBeGreaterThan(50);
    for (const { what, answer } of refused) expect([what, answer]).toEqual([what, expect.objectContaining(FULL)]);
    // The store was told before it met the end of the disk.
    expect(hub.stderr()).toBe('');
    expect(await trial.problems()).toEqual([]);
  },
);

test.runIf(canUnshare)('[OPS-2] a new data folder on a full disk is refused with a word', async () => {
  await expect(startHubOnSmallDisk(8)).rejects.toThrow(/ended with 1: .*less than 16 MiB free; free some space/);
});

test.runIf(canTrace)(
  '[OPS-2] a hub that could not write the head of its file ends with a word, and starts again with all that was answered',
  async () => {
    trial = await FaultTrial.start();
    // The head is the last of some writes of a commit, and which one is not known before: one after another fails.
    for (let isHit = false, when = 2; !isHit; when = when === 9 ? 2 : when + 1) {
      const { hub } = trial.place;
      const ended = once(hub.process, 'exit');
      const fault = await beginFault(hub, `pwrite64:error=EIO:when=${when}`);
      for (const { answer } of await Promise.all([trial.createTask(), trial.createTask(), trial.createTask()])) {
        // Who gets no answer is not told anything that is not so.
        if (answer !== undefined && answer.status !== 200) expect(answer).toMatchObject(BROKEN);
      }
      const hit = await fault.end();
      isHit = hit.length > 0 && hit.every(isHead);
      if (isHit) {
        expect(await ended).toEqual([null, 'SIGKILL']);
        const word = await hub.waitForLog(({ level }) => level === 60);
        expect(word['msg']).toMatch(/check the disk, then start it again/);
      }
      await trial.startAgain();
      expect(await trial.problems()).toEqual([]);
    }
    for (const { what, answer } of await trial.tryWrites()) expect([what, answer?.status]).toEqual([what, 200]);
    expect(await trial.problems()).toEqual([]);
  },
  240_000,
);

test.runIf(canLimit)(
  '[OPS-2] writes that the system cuts short, because the file may not grow, are refused and leave nothing',
  async () => {
    trial = await FaultTrial.start();
    const { hub } = trial.place;
    const bytes = statSync(join(hub.dataFolder, 'cairn.mdb')).size;
    // In the middle of a page.
    limitFiles(hub, String(bytes + 1_000_000 + 2048));
    const told = await trial.tryWrites();
    for (const { what, answer } of told) {
      if (answer === undefined || answer.status === 200) continue;
      expect([what, answer.text]).toEqual([what, expect.stringMatching(/nothing was saved/i)]);
    }
    expect(told.some(({ answer }) => answer?.status !== 200)).toBe(true);
    const read = await readMeanwhile(trial);
    if (read === undefined) await trial.startAgain();
    else limitFiles(hub, 'unlimited');
    expect(await trial.problems()).toEqual([]);
    for (const { what, answer } of await trial.tryWrites()) expect([what, answer?.status]).toEqual([what, 200]);
    await trial.startAgain();
    expect(await trial.problems()).toEqual([]);
  },
);

/** Whether a write went to one of the two meta pages, which are less than a page long. */
function isHead(call: string): boolean {
  const [, length, offset] = /, (\d+), (\d+)\) += /.exec(call) ?? [];
  return Number(length) < 4096 && Number(offset) < 8192;
}
