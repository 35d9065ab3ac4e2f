/** The name of the second file when both sides of a conflict are kept. */
import { expect, test } from 'vitest';
import { copyPath } from '../../../src/sync/conflicts/copy-name.ts';

const nowMs = Date.parse('2026-11-22T01:30:00.000Z');

test.each([
  ['notes/a.md', 'laptop', 1, 'notes/a (conflict laptop 2026-11-22 013000).md'],
  ['notes/a.md', 'laptop', 2, 'notes/a (conflict laptop 2026-11-22 013000 2).md'],
  ['Makefile', 'laptop', 1, 'Makefile (conflict laptop 2026-11-22 013000)'],
  ['.env', 'laptop', 1, '.env (conflict laptop 2026-11-22 013000)'],
  ['a (conflict pc 2026-11-01 000000).md', 'laptop', 1, 'a (conflict laptop 2026-11-22 013000).md'],
  ['a.md', '../x (1)', 1, 'a (conflict ..-x -1- 2026-11-22 013000).md'],
])('[SYN-14] %s from %s, try %i, is %s', (path, deviceId, attempt, expected) => {
  expect(copyPath({ path, deviceId, nowMs, attempt }).path).toBe(expected);
});

test('[SYN-14] a long name is cut at a whole character, and keeps its type', () => {
  const { path } = copyPath({ path: `${'é'.repeat(125)}.md`, deviceId: 'd', nowMs, attempt: 1 });
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(255);
  expect(path).toMatch(/^é+ \(conflict d 2026-11-22 013000\)\.md$/);
});
