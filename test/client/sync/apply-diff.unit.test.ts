/** A unified diff is applied exactly, and refused where it does not fit. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyDiff } from '../../../src/client/sync/plan/apply-diff.ts';
import { unifiedDiff } from '../../../src/text/unified-diff.ts';
import { runs, seed } from '../../support/seed.ts';

const names = { beforeName: 'hub/n', afterName: 'yours/n' };

test('[SYN-30] any text becomes the other one by their diff', () => {
  const text = fc
    .array(fc.constantFrom('a\n', 'b\n', '\n', '@@ -1 +1 @@\n', '-x\n', '+y\n', '\\ z\n', 'end'))
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, text, fc.integer({ min: 0, max: 3 }), (before, after, contextLines) => {
      fc.pre(before !== after);
      const diff = unifiedDiff({ before, after, ...names, contextLines });
      expect(applyDiff(before, diff)).toBe(after);
    }),
    { seed, numRuns: runs(300) },
  );
});

test('[SYN-30] a diff of another text is refused', () => {
  const diff = unifiedDiff({ before: 'a\nb\n', after: 'a\nc\n', ...names, contextLines: 1 });
  expect(applyDiff('a\nx\n', diff)).toBeUndefined();
});
