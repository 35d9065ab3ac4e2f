/** The bounds of the wait for the rest of a refused body. */
import { expect, test } from 'vitest';
import { BodyRest } from '../../../src/http/request/body-rest.ts';
import { limits } from '../../../src/limits/service.ts';

const MAX = limits.discardedBodyBytesMax;
const PAUSE_MS = limits.discardPauseSeconds * 1000;
const ALL_MS = limits.discardSeconds * 1000;

/** A rest that is awaited since moment 0, and how often its wait was over. */
function awaited(bytesDeclared: number | undefined) {
  const rest = new BodyRest(bytesDeclared);
  const seen = { over: 0 };
  rest.await(() => {
    seen.over += 1;
  }, 0);
  return { rest, seen };
}

test('NET-7: an answer waits only for a rest that is short enough to discard', () => {
  const rest = new BodyRest(MAX + 10);
  expect(rest.isMissing).toBe(false);
  rest.receive(10, false, 0);
  expect(rest.isMissing).toBe(true);
  rest.receive(MAX, true, 0);
  expect(rest.isMissing).toBe(false);
  expect(new BodyRest(undefined).isMissing).toBe(true);
});

test('NET-7: the wait for the rest of a body ends once, at its last byte', () => {
  const { rest, seen } = awaited(20);
  rest.receive(10, false, 1);
  expect([rest.isAwaited, seen.over]).toEqual([true, 0]);
  rest.receive(10, true, 2);
  rest.checkDeadline(ALL_MS);
  expect([rest.isAwaited, rest.isMissing, seen.over]).toEqual([false, false, 1]);
});

test('NET-7: the wait for the rest of a body without a length ends at the bound of discarded bytes', () => {
  const { rest, seen } = awaited(undefined);
  rest.receive(MAX, false, 1);
  expect(seen.over).toBe(0);
  rest.receive(1, false, 1);
  rest.receive(1, false, 1);
  expect([rest.isMissing, seen.over]).toEqual([false, 1]);
});

test('NET-7: the wait for the rest of a body ends when its sender pauses', () => {
  const { rest, seen } = awaited(MAX);
  rest.receive(1, false, 100);
  rest.checkDeadline(100 + PAUSE_MS - 1);
  expect(seen.over).toBe(0);
  rest.checkDeadline(100 + PAUSE_MS);
  expect([rest.isMissing, seen.over]).toEqual([false, 1]);
});

test('NET-7: a sender of single bytes does not prolong the wait for the rest of its body', () => {
  const { rest, seen } = awaited(MAX);
  for (let atMs = 0; atMs < ALL_MS; atMs += 1000) {
    rest.receive(1, false, atMs);
    rest.checkDeadline(atMs);
  }
  expect(seen.over).toBe(0);
  rest.receive(1, false, ALL_MS);
  rest.checkDeadline(ALL_MS);
  expect(seen.over).toBe(1);
});
