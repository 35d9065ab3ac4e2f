/** What becomes of a path: three hashes decide. */
import { expect, test } from 'vitest';
import { decidePull, localChange } from '../../../src/client/sync/plan/decide.ts';

test('[CLI-2] what becomes of a path follows from three hashes alone', () => {
  const hashes = [undefined, 'x', 'y', 'z'];
  for (const local of hashes) {
    for (const remote of hashes) {
      for (const base of hashes) {
        const action = decidePull(local, remote, base);
        // Bytes of ours that the hub never had are never replaced or removed.
        if (local !== undefined && local !== base && local !== remote) {
          expect(['keep', 'conflict', 'unchanged']).toContain(action);
        }
        if (local === remote) expect(action).toBe('agree');
        expect(localChange(local, base) === undefined).toBe(local === base);
      }
    }
  }
});
