/** The round of a sync, and the state that it works on: nothing that was found is lost, and nothing changes unseen. */
import { expect, test } from 'vitest';
import { clockText, newState, ticked, withOwn } from '../../../src/client/sync/base/state.ts';
import { StateStore } from '../../../src/client/sync/base/store.ts';
import { SyncedFolder } from '../../../src/client/sync/folder/folder.ts';
import type { FolderPath } from '../../../src/client/sync/folder/path.ts';
import type { Replica } from '../../../src/client/sync/replica.ts';
import { newRound, type Round, runStep, withFindings } from '../../../src/client/sync/round.ts';
import { limits } from '../../../src/limits/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const A = 'a' as FolderPath;

test('[SYN-25] a step that fails leaves what it found, and the round before it as it was', async () => {
  const before: Round = newRound();
  let after = before;
  const failing = runStep(
    {} as Replica,
    before,
    ({ next }) => {
      next.due.add(A);
      throw new Error('the hub is down');
    },
    (next) => {
      after = next;
    },
  );
  await expect(failing).rejects.toThrow('the hub is down');
  expect([...before.due, '|', ...after.due]).toEqual(['|', A]);
});

test('[SYN-25] what large transfers found joins the round, with the later of two sends', () => {
  const sends = (lastMs: number, inRow: number) => new Map([[A, { inRow, lastMs }]]);
  const findings = { ...newRound(), due: new Set([A]), sends: sends(5, 3), held: new Set([A]) };
  expect(withFindings({ ...newRound(), sends: sends(4, 2) }, findings)).toEqual({
    ...newRound(),
    due: new Set([A]),
    sends: sends(5, 3),
  });
  expect(withFindings({ ...newRound(), sends: sends(6, 1) }, findings).sends).toEqual(sends(6, 1));
});

test.each([
  ['the first', [], 5, [[5, 5]]],
  ['the next', [[3, 4]], 5, [[3, 5]]],
  [
    'one after a gap',
    [[3, 3]],
    5,
    [
      [3, 3],
      [5, 5],
    ],
  ],
  ['one that was noted before', [[3, 6]], 5, [[3, 6]]],
  ['the last of a range again', [[3, 5]], 5, [[3, 5]]],
] as const)('[SYN-24] an own change that a pull leaves out: %s', (_, own, seq, after) => {
  expect(withOwn(own, seq)).toEqual(after);
});

test('[SYN-24] own changes in too many ranges are pulled like others, and the last range still grows', () => {
  const full = Array.from({ length: limits.clientOwnRanges }, (_, at) => [at * 2, at * 2] as const);
  const last = full.length * 2 - 2;
  expect(withOwn(full, last + 2)).toEqual(full);
  expect(withOwn(full, last + 1).at(-1)).toEqual([last, last + 1]);
});

test.each([
  ['time went on', { ms: 5, counter: 7, node: 'n' }, 6, { ms: 6, counter: 0, node: 'n' }],
  ['time stood still', { ms: 5, counter: 7, node: 'n' }, 5, { ms: 5, counter: 8, node: 'n' }],
  ['time went back', { ms: 5, counter: 7, node: 'n' }, 1, { ms: 5, counter: 8, node: 'n' }],
  ['the counter is full', { ms: 5, counter: 0xffff, node: 'n' }, 5, { ms: 6, counter: 0, node: 'n' }],
])('[HLC-2] the clock of a folder always goes on: %s', (_, clock, nowMs, after) => {
  expect(ticked(clock, nowMs)).toEqual(after);
  expect(clockText(after) > clockText(clock)).toBe(true);
});

test('[SYN-25] bytes that come back from the hub are what this device sent; from another one they are its choice', () => {
  const folder = new SyncedFolder(temporaryFolder());
  folder.makeOwn();
  const store = new StateStore(folder, newState('http://127.0.0.1:1', 'v_0000000000000000'));
  const { device_id: own } = store;
  const after = (sent: string | null, sha256: string | null, deviceId: string) => {
    store.agree(A, { sha256: 'before' });
    store.rememberSent([[A, sent]]);
    store.recallSent(A, { sha256, deviceId, storedMs: 1 });
    return [store.base.get(A), store.sent.has(A)];
  };
  expect(after('x', 'x', 'another')).toEqual([{ sha256: 'before' }, true]);
  expect(after('x', 'y', own)).toEqual([{ sha256: 'before' }, true]);
  expect(after('x', 'x', own)).toEqual([{ sha256: 'x', storedMs: 1 }, false]);
  expect(after(null, null, own)).toEqual([undefined, false]);
  expect(after('before', 'before', own)).toEqual([{ sha256: 'before' }, false]);
});
