/** The values of progress rise, whatever comes first: the protocol asks for it, and clients may drop others. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ProgressNotes, progressTokenOf } from '../../src/gateway/asking/progress.ts';
import { limits } from '../../src/limits/service.ts';

let sent: number[];
let notes: ProgressNotes;

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  notes = new ProgressNotes('t', (message) => {
    sent.push((JSON.parse(message) as { params: { progress: number } }).params.progress);
  });
});

afterEach(() => {
  notes.end();
  vi.useRealTimers();
});

const beat = (times = 1) => vi.advanceTimersByTime(times * limits.progressBeatMs);

test('[MCP-10] beats before and between steps stay below the next step, however many there are', () => {
  beat(100);
  expect(sent).toHaveLength(100);
  notes.note(1, 20, 'steps');
  beat(100);
  notes.note(2, 20, 'steps');
  // Within the pause after a note; the last one is told at once.
  notes.note(3, 20, 'steps');
  notes.note(20, 20, 'steps');
  notes.note(5, 20, 'steps');
  expect(sent.every((value, at) => at === 0 || value > (sent[at - 1] ?? 0))).toBe(true);
  expect(sent.filter(Number.isInteger)).toEqual([1, 2, 20]);
  expect(sent[0]).toBeLessThan(1);
});

test('[MCP-10] a beginning is told, few steps are not, and nothing after the end', () => {
  notes.note(0, limits.progressStepsMin, 'steps');
  notes.note(1, limits.progressStepsMin - 1, 'steps');
  notes.end();
  beat(3);
  expect(sent).toEqual([0]);
});

test.each([
  ['a', 'a'],
  [0, 0],
  [1.5, undefined],
  [null, undefined],
  [{}, undefined],
])('[MCP-10] the progress token %j is read as %j', (progressToken, read) => {
  expect(progressTokenOf({ _meta: { progressToken } })).toBe(read);
  expect([progressTokenOf(undefined), progressTokenOf({ _meta: null })]).toEqual([undefined, undefined]);
});
