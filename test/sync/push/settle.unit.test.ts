/** Which pending conflicts an accepted push settles, how the bytes of a refused one are kept, and whose clock a change gets. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { overRoom } from '../../../src/sync/log/file-room.ts';
import { adoptClock, decideKeep, overQuota, settledBy } from '../../../src/sync/push/decision.ts';
import type { Base, PushRequest } from '../../../src/sync/push/types.ts';
import { clockAt, conflictOf, contentOf, type Met, NOW_MS, pushOf, shaOf, stateOf } from '../../support/push-state.ts';

const onA: Base = { kind: 'sha', sha: shaOf('a') };
const NOTHING: Base = { kind: 'nothing' };

describe('[SYN-14] an accepted push settles a pending conflict', () => {
  const own = conflictOf('own');
  const other = conflictOf('other', { device_id: 'phone' });
  test.each<[title: string, push: Partial<PushRequest>, conflict: typeof own, status: string | undefined]>([
    ['that it names', { resolves: 'other' }, other, 'resolved'],
    ['that it does not name', { resolves: 'own' }, other, undefined],
    ['of another device', {}, other, undefined],
    ['of another device, with a base', { base: onA }, other, undefined],
    ['of another device, with the same bytes', { content: contentOf('c') }, other, 'resolved'],
    ['of the same device, with the same bytes', { content: contentOf('c') }, own, 'resolved'],
    ['of the same device, with a base', { base: onA }, own, 'resolved'],
    ['of the same device, with the base of no file', { base: NOTHING }, own, 'resolved'],
    ['of the same device, without a base', {}, own, 'superseded'],
    ['of the same device, by a delete', { content: undefined, base: onA }, own, 'resolved'],
    [
      'a refused delete of another device, by a delete',
      { content: undefined, base: onA },
      conflictOf('x', { device_id: 'phone', your_sha256: null }),
      undefined,
    ],
    ['a refused delete of the same device, without a base', {}, conflictOf('x', { your_sha256: null }), 'superseded'],
  ])('%s', (_, push, conflict, status) => {
    expect(settledBy(pushOf(push), [conflict])).toEqual(status === undefined ? [] : [{ conflict, status }]);
  });

  test('each by itself, in their order', () => {
    const settled = settledBy(pushOf({ resolves: 'other' }), [
      own,
      other,
      conflictOf('b', { your_sha256: shaOf('b') }),
    ]);
    expect(settled.map(({ conflict, status }) => [conflict.id, status])).toEqual([
      ['own', 'superseded'],
      ['other', 'resolved'],
      ['b', 'resolved'],
    ]);
  });
});

describe('[SYN-5, SYN-14, SYN-21] the bytes of a refused push', () => {
  const c = { content: contentOf('c') };
  const others = (count: number) =>
    Array.from({ length: count }, (_, at) => conflictOf(`p${at}`, { device_id: `d${at}` }));
  const most = limits.pendingConflictsPerPathMax;
  test.each<[title: string, push: Partial<PushRequest>, met: Met, outcome: unknown]>([
    ['are kept', {}, {}, { kind: 'keep', superseded: [] }],
    [
      'are known when the device sent them before',
      c,
      { pending: [conflictOf('own')] },
      { kind: 'known', conflict: { id: 'own' } },
    ],
    [
      'are kept when another device sent them before',
      c,
      { pending: [conflictOf('x', { device_id: 'phone' })] },
      { kind: 'keep', superseded: [] },
    ],
    [
      'replace those of the same device',
      {},
      { pending: [conflictOf('own')] },
      { kind: 'keep', superseded: [{ id: 'own' }] },
    ],
    [
      'are known for a repeated delete',
      { content: undefined },
      { pending: [conflictOf('own', { your_sha256: null })] },
      { kind: 'known', conflict: { id: 'own' } },
    ],
    ['are kept as the last of ten', {}, { pending: others(most - 1) }, { kind: 'keep', superseded: [] }],
    ['are not kept beside ten of other devices', {}, { pending: others(most) }, { kind: 'full' }],
    [
      'are kept beside nine and one of its own',
      {},
      { pending: [...others(most - 1), conflictOf('own')] },
      { kind: 'keep', superseded: [{ id: 'own' }] },
    ],
    [
      'are known beside ten',
      c,
      { pending: [...others(most), conflictOf('own')] },
      { kind: 'known', conflict: { id: 'own' } },
    ],
    ['fit to the byte', {}, { roomBytes: { files: 10, history: 0 } }, { kind: 'keep', superseded: [] }],
    [
      'are refused one byte above the quota',
      {},
      { roomBytes: { files: 9 } },
      { kind: 'refuse', fault: { kind: 'quota_exceeded', of: 'files', neededBytes: 10 } },
    ],
    [
      'take the room of those that they replace',
      {},
      { pending: [conflictOf('own')], roomBytes: { files: 0, history: 10 } },
      { kind: 'keep' },
    ],
    [
      'which becomes history',
      {},
      { pending: [conflictOf('own')], roomBytes: { files: 0, history: 9 } },
      { kind: 'refuse', fault: { of: 'history' } },
    ],
    ['of a delete need no room of files', { content: undefined }, { roomBytes: { files: 0 } }, { kind: 'keep' }],
    [
      'of a delete are only not kept without room',
      { content: undefined },
      { roomBytes: { history: -1 } },
      { kind: 'full' },
    ],
  ])('%s', (_, push, met, outcome) => {
    expect(decideKeep(pushOf(push), stateOf(met))).toMatchObject(outcome as object);
  });
});

describe('[HLC-2] the clock of a change', () => {
  const ahead = limits.hlcAheadMsMax;
  const late = { ms: NOW_MS - 60_000, counter: 3 };
  test.each<[title: string, hlcMs: number, before: readonly number[], expected: unknown]>([
    [
      'is the client’s without an earlier version',
      -1000,
      [],
      { hubMade: false, warnings: [], clock: { ms: NOW_MS, counter: 0 } },
    ],
    ['is the client’s above the earlier ones', -1000, [-2000, -1001], { hubMade: false, warnings: [] }],
    [
      'is the hub’s when it equals an earlier one',
      -1000,
      [-2000, -1000],
      { hubMade: true, clock: { ms: NOW_MS, counter: 0 } },
    ],
    ['is the hub’s below one of them', -1000, [-999, -2000], { hubMade: true }],
    [
      'is the client’s as far ahead as it may be',
      ahead,
      [-2000],
      { hubMade: false, clock: { ms: NOW_MS + ahead, counter: 1 } },
    ],
    ['is the hub’s further ahead', ahead + 1, [], { hubMade: true, clock: { ms: NOW_MS, counter: 0 } }],
  ])('%s', (_, hlcMs, before, expected) => {
    const push = pushOf({ hlc: clockAt(hlcMs) });
    const adopted = adoptClock(push, stateOf({ clock: late }), before.map(clockAt));
    expect(adopted).toMatchObject(expected as object);
    expect(adopted.warnings.length).toBe(adopted.hubMade ? 1 : 0);
  });

  test('the warning says how far a clock is ahead', () => {
    const { warnings } = adoptClock(pushOf({ hlc: clockAt(ahead + 1500) }), stateOf(), []);
    expect(warnings).toEqual([
      'your clock is 301.5 s ahead of the hub; the change was stored under a clock of the hub',
    ]);
  });
});

describe('[SYN-21] the room of an account', () => {
  const record = limits.recordCountedBytes;
  const quotas = { files: 100, history: 50 + record };
  test.each<[title: string, used: [files: number, history: number], more: number, freed: number, over: unknown]>([
    ['all of the quota of files', [90, 0], 10, 0, undefined],
    ['one byte more', [91, 0], 10, 0, { of: 'files', quotaBytes: 100, usedBytes: 91, neededBytes: 10 }],
    ['no growth above the quota', [200, 0], 10, 10, undefined],
    ['a byte of growth above the quota', [200, 0], 11, 10, { of: 'files', neededBytes: 1 }],
    ['less than before', [200, 0], 5, 10, undefined],
    ['all of the quota of history', [0, 40], 0, 10, undefined],
    ['one byte more of history', [0, 41], 0, 10, { of: 'history', quotaBytes: 50 + record, neededBytes: 10 + record }],
    ['files before history', [100, 1e6], 1, 0, { of: 'files' }],
  ])('%s', (_, [files, history], more, freed, over) => {
    const found = overRoom(quotas, () => ({ files, history }), more, freed);
    if (over === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject({ kind: 'quota_exceeded', ...(over as object) });
  });

  test('a push frees what it overwrites and the conflicts that it settles', () => {
    const settled = ['x', 'y'].map((id) => ({
      conflict: conflictOf(id, { size_bytes: 7 }),
      status: 'resolved' as const,
    }));
    const push = pushOf({ content: contentOf('b', 30) });
    const over = (files: number, history = 20) =>
      overQuota(push, stateOf({ roomBytes: { files, history } }), settled, 6);
    expect(over(10)).toBeUndefined();
    expect(over(9)).toMatchObject({ kind: 'refuse', fault: { of: 'files', neededBytes: 10 } });
    expect(over(10, 19)).toMatchObject({ kind: 'refuse', fault: { of: 'history' } });
    expect(overQuota(pushOf({ content: undefined }), stateOf({ roomBytes: { files: -1 } }), [], 0)).toBeUndefined();
  });
});
