/** What becomes of a path: three hashes decide. */
import { expect, test } from 'vitest';
import { decidePull, localChange } from '../../../src/client/sync/plan/decide.ts';

const NONE = undefined;
/** All combinations of what is here, on the hub, and agreed on: equal letters are equal hashes. */
const ROWS = [
  [NONE, NONE, NONE, 'agree'],
  [NONE, NONE, 'x', 'agree'],
  [NONE, 'x', NONE, 'take'],
  [NONE, 'x', 'x', 'unchanged'],
  [NONE, 'x', 'y', 'revive'],
  ['x', NONE, NONE, 'unchanged'],
  ['x', NONE, 'x', 'remove'],
  ['x', NONE, 'y', 'keep'],
  ['x', 'x', NONE, 'agree'],
  ['x', 'x', 'x', 'agree'],
  ['x', 'x', 'y', 'agree'],
  ['x', 'y', NONE, 'conflict'],
  ['x', 'y', 'x', 'take'],
  ['x', 'y', 'y', 'unchanged'],
  ['x', 'y', 'z', 'conflict'],
] as const;

test.each(ROWS)('[CLI-2] here %s, on the hub %s, agreed on %s: %s', (local, remote, base, action) => {
  expect(decidePull(local, remote, base)).toBe(action);
});

test('[CLI-2] the rows are all that can be, and no other hash than these three counts', () => {
  const hashes = [NONE, 'x', 'y', 'z'];
  const kinds = new Set(
    hashes.flatMap((local) => hashes.flatMap((remote) => hashes.map((base) => kindOf([local, remote, base])))),
  );
  expect([...kinds].sort()).toEqual(ROWS.map(([local, remote, base]) => kindOf([local, remote, base])).sort());
});

/** Which of three hashes are equal, and which are none. */
function kindOf(hashes: readonly (string | undefined)[]): string {
  return hashes.map((hash) => (hash === NONE ? '-' : hashes.indexOf(hash))).join('');
}

test.each([
  [NONE, NONE, NONE],
  ['x', 'x', NONE],
  ['x', NONE, 'create'],
  ['x', 'y', 'update'],
  [NONE, 'x', 'delete'],
])('[CLI-2] here %s, agreed on %s: the local change is %s', (local, base, change) => {
  expect(localChange(local, base)).toBe(change);
});
