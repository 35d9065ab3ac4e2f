/** Which versions and settled conflicts a round removes, to the millisecond and to the place. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits/service.ts';
import { isConflictDue, isVersionDue, keptAt, keptOnRequest } from '../../../src/sync/history/due.ts';

const NOW_MS = Date.parse('2026-11-20T20:00:00.000Z');
const DAYS_30 = 30 * 24 * 3_600_000;

test('[SYN-7] a round keeps 20 versions of a path, and everything of the last 30 days', () => {
  expect([limits.historyVersionsMin, limits.historyDays]).toEqual([20, 30]);
  expect(keptAt(NOW_MS)).toEqual({ versionsMin: 20, cutoffMs: NOW_MS - DAYS_30 });
});

test.each<[days: number, cutoffMs: number]>([
  [0, NOW_MS],
  [1, NOW_MS - DAYS_30 / 30],
  [30, NOW_MS - DAYS_30],
])('[SYN-7] on request the current version and the last %i days are kept', (days, cutoffMs) => {
  expect(keptOnRequest(NOW_MS, days)).toEqual({ versionsMin: 1, cutoffMs });
});

test.each<[place: number, agoMs: number, due: boolean]>([
  [0, DAYS_30 + 1, false],
  [19, DAYS_30 + 1, false],
  [20, DAYS_30 + 1, true],
  [20, DAYS_30, false],
  [20, 0, false],
  [99, DAYS_30 + 1, true],
  [99, DAYS_30, false],
])('[SYN-7] of a path, version %i stored %i ms ago is due: %s', (place, agoMs, due) => {
  expect(isVersionDue(keptAt(NOW_MS), place, NOW_MS - agoMs)).toBe(due);
});

describe('[SYN-7] a conflict is due', () => {
  test.each<[title: string, settledAgoMs: number | undefined, due: boolean]>([
    ['never while it is pending', undefined, false],
    ['not when it was settled just now', 0, false],
    ['not 30 days after it was settled', DAYS_30, false],
    ['after that', DAYS_30 + 1, true],
  ])('%s', (_, agoMs, due) => {
    const settled_at = agoMs === undefined ? null : new Date(NOW_MS - agoMs).toISOString();
    expect(isConflictDue(keptAt(NOW_MS).cutoffMs, { settled_at })).toBe(due);
  });
});
