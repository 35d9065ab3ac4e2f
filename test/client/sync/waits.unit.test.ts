/** Waits: retries, large files to which programs keep writing, a watch that hears nothing. */
import { expect, test } from 'vitest';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import {
  afterFailure,
  afterSend,
  backoffMs,
  firstTriedAgainMs,
  isRestless,
  longestWaitMs,
  pauseAfterIdleMs,
  restsUntilMs,
  type Sends,
  triedAgainMs,
} from '../../../src/client/sync/plan/waits.ts';

const PATH = 'log' as FolderPath;
const STEP_MS = 100;
const MINUTE_MS = 60_000;

/** When a file is sent that changes at some times, within so many milliseconds. */
function sendsOf(changesAt: (ms: number) => boolean, untilMs: number, bytes = 2 ** 20): number[] {
  let rests: Sends = new Map();
  const sends: number[] = [];
  let changedMs = 0;
  let isSent = false;
  for (let nowMs = 0; nowMs <= untilMs; nowMs += STEP_MS) {
    if (changesAt(nowMs)) [changedMs, isSent] = [nowMs, false];
    if (isSent || restsUntilMs(rests, PATH, { bytes, changedMs }, nowMs) !== undefined) continue;
    rests = afterSend(rests, PATH, bytes, nowMs);
    sends.push(nowMs);
    isSent = true;
  }
  return sends;
}

test('[SYN-24] a large file that never stands still is sent after growing pauses, and once it stands still', () => {
  const sends = sendsOf((ms) => ms <= 5 * MINUTE_MS, 6 * MINUTE_MS);
  expect(sends).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 301.5].map((seconds) => seconds * 1000));
  // Its last state was due before the next pause ended.
  expect(sends.at(-1)).toBeLessThan(5 * MINUTE_MS + 2000);
});

test('[SYN-24] a large file that a person saves now and then is sent at once, and so is a small one', () => {
  expect(sendsOf((ms) => ms % 10_000 === 0, MINUTE_MS)).toHaveLength(7);
  expect(sendsOf(() => true, 10_000, 1000)).toHaveLength(101);
});

test.each([
  [0, 1000],
  [1, 2000],
  [5, 32_000],
  [6, 60_000],
  [2000, 60_000],
])('[SYN-24] after %i failures a retry comes after %i ms', (failures, ms) => {
  expect(backoffMs(failures)).toBe(ms);
});

test.each([
  ['sent once', [0], 100, false],
  ['sent twice within its pauses', [0, 1999], 2100, true],
  ['sent twice with a rest between', [0, 2000], 2100, false],
  ['sent twice, and not for two pauses since', [0, 1000], 5000, false],
  ['sent twice, and not for almost two pauses', [0, 1000], 4999, true],
])('[SYN-24] a large file that was %s', (_, sends, nowMs, is) => {
  const sent = sends.reduce<Sends>((known, atMs) => afterSend(known, 'a', 2 ** 20, atMs), new Map());
  expect(isRestless(sent, 'a', nowMs)).toBe(is);
  expect(isRestless(sent, 'b', nowMs)).toBe(false);
});

test('[SYN-24] a file that became small is forgotten, and a send leaves the sends of before as they were', () => {
  const before = afterSend(new Map(), 'a', 2 ** 18, 0);
  expect([...afterSend(before, 'a', 2 ** 18 - 1, 1)]).toEqual([]);
  expect([...before.keys()]).toEqual(['a']);
});

test('[SYN-24] what cannot be written is tried again after 1, 2, 4 … 60 s, and several tries of one sync count once', () => {
  let failed = afterFailure(undefined, 0);
  expect(afterFailure(failed, 500)).toEqual(failed);
  const pauses: number[] = [];
  for (let tries = 0; tries < 9; tries += 1) {
    const againMs = triedAgainMs(failed);
    pauses.push(againMs - failed.lastMs);
    failed = afterFailure(failed, againMs);
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, MINUTE_MS, MINUTE_MS, MINUTE_MS]);
});

test.each([
  ['nothing failed', [{}], Number.POSITIVE_INFINITY],
  [
    'the first of several',
    [{ failed: { inRow: 2, lastMs: 100_000 } }, { failed: { inRow: 1, lastMs: 100_000 } }],
    101_000,
  ],
  ['due just now', [{ failed: { inRow: 1, lastMs: 98_500 } }], 99_500],
  [
    'due long ago, so it cannot be written for another reason',
    [{ failed: { inRow: 1, lastMs: 1000 } }],
    Number.POSITIVE_INFINITY,
  ],
])('[SYN-24] a watch wakes for what could not be written: %s', (_, waits, ms) => {
  expect(firstTriedAgainMs(waits, 100_000)).toBe(ms);
});

const QUIET = { isBlind: false, hasAsides: false, restsUntilMs: Number.POSITIVE_INFINITY };

test.each([
  ['nothing waits: a full scan now and then', QUIET, 300_000],
  ['not every change is reported: sooner', { ...QUIET, isBlind: true }, 20_000],
  ['a program may write to a file kept aside: soon', { ...QUIET, hasAsides: true, isBlind: true }, 10_000],
  ['a file rests', { ...QUIET, restsUntilMs: 1_001_500 }, 1500],
  ['its time has come', { ...QUIET, restsUntilMs: 999_000 }, 0],
  ['a file rests for longer than the others wait', { ...QUIET, hasAsides: true, restsUntilMs: 1_060_000 }, 10_000],
])('[SYN-24] a watch that hears nothing: %s', (_, view, ms) => {
  expect(longestWaitMs(view, 1_000_000)).toBe(ms);
});

test('[SYN-26] syncs that nobody asked for and that change nothing come after growing pauses, up to a minute', () => {
  const pauses = [0, 2, 3, 4, 5, 8, 9, 50].map((inRow) => pauseAfterIdleMs(inRow));
  expect(pauses).toEqual([0, 0, 1000, 2000, 4000, 32_000, MINUTE_MS, MINUTE_MS]);
});
