/** How often a large file is sent to which a program keeps writing. */
import { expect, test } from 'vitest';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import { afterSend, restsUntilMs, type Sends } from '../../../src/client/sync/plan/waits.ts';

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
