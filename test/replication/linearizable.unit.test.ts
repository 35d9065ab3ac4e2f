/** The checker of histories finds what must not happen, and accepts what may. */
import { expect, test } from 'vitest';
import { isLinearizable, type RegisterOperation } from '../support/linearizable.ts';

const LOST = Number.POSITIVE_INFINITY;
const op = (kind: 'read' | 'write', value: string, startMs: number, endMs: number): RegisterOperation => ({
  kind,
  value,
  startMs,
  endMs,
});

test.each<[string, RegisterOperation[], boolean]>([
  ['nothing', [], true],
  ['a read of what was written', [op('write', 'a', 0, 1), op('read', 'a', 2, 3)], true],
  ['a stale read', [op('write', 'a', 0, 1), op('read', '', 2, 3)], false],
  ['a read beside a write, before', [op('write', 'a', 0, 9), op('read', '', 2, 3)], true],
  ['a read beside a write, after', [op('write', 'a', 0, 9), op('read', 'a', 2, 3)], true],
  ['a value that went back', [op('write', 'a', 0, 9), op('read', 'a', 1, 2), op('read', '', 3, 4)], false],
  ['a write of a zombie', [op('write', 'a', 0, 1), op('write', 'b', 2, 3), op('read', 'a', 4, 5)], false],
  ['a lost write without an answer', [op('write', 'a', 0, LOST), op('read', '', 2, 3)], true],
  ['a late write without an answer', [op('write', 'a', 0, LOST), op('read', '', 2, 3), op('read', 'a', 4, 5)], true],
  ['one that came and went', [op('write', 'a', 0, LOST), op('read', 'a', 2, 3), op('read', '', 4, 5)], false],
  ['a value from nowhere', [op('write', 'a', 0, 1), op('read', 'b', 2, 3)], false],
  [
    'two that overlap, seen in two orders',
    [op('write', 'a', 0, 5), op('write', 'b', 0, 5), op('read', 'a', 6, 7), op('read', 'b', 8, 9)],
    false,
  ],
])('[MEMBER-2] whether a history could have happened: %s', (_what, history, can) => {
  expect(isLinearizable(history, '')).toBe(can);
});
