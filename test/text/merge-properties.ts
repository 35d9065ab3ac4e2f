/** What must hold for any merge, whatever git does. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MergeOptions, mergeTexts } from '../../src/text/merge.ts';
import { seed } from '../support/seed.ts';
import { relatives } from '../support/texts.ts';

const labels = { base: 'the base', ours: 'our side', theirs: 'their side' };
const plain: MergeOptions = { favor: 'none', style: 'merge', labels };

/** Declares the tests of so many merges each. */
export function mergeProperties(runs: number): void {
  test(`[SYN-13] a side that changed nothing leaves the merge to the other (FC_SEED=${seed})`, () => {
    fc.assert(
      fc.property(relatives, ({ base, ours }) => {
        expect(mergeTexts({ base, ours, theirs: base }, plain)).toEqual({ content: ours, conflicts: 0 });
        expect(mergeTexts({ base, ours: base, theirs: ours }, plain)).toEqual({ content: ours, conflicts: 0 });
        expect(mergeTexts({ base, ours, theirs: ours }, plain)).toEqual({ content: ours, conflicts: 0 });
        expect(mergeTexts({ base: ours, ours, theirs: ours }, plain)).toEqual({ content: ours, conflicts: 0 });
      }),
      { seed, numRuns: runs },
    );
  });

  test(`[SYN-13] sides that change places give the same merge with the sides exchanged (FC_SEED=${seed})`, () => {
    const exchanged = { base: labels.base, ours: labels.theirs, theirs: labels.ours };
    fc.assert(
      fc.property(relatives, ({ base, ours, theirs }) => {
        const one = mergeTexts({ base, ours, theirs }, { ...plain, style: 'diff3' });
        const other = mergeTexts({ base, ours: theirs, theirs: ours }, { ...plain, style: 'diff3', labels: exchanged });
        expect(other.conflicts).toBe(one.conflicts);
        if (one.conflicts === 0) expect(other.content).toBe(one.content);
        for (const [favor, opposite] of [['ours', 'theirs'] as const, ['theirs', 'ours'] as const]) {
          const settled = mergeTexts({ base, ours, theirs }, { favor, style: 'diff3', labels });
          const same = mergeTexts({ base, ours: theirs, theirs: ours }, { favor: opposite, style: 'diff3', labels });
          expect(settled.conflicts).toBe(0);
          expect(same.content).toBe(settled.content);
        }
      }),
      { seed, numRuns: runs },
    );
  });

  test(`[SYN-13] a merge holds no line that neither side has (FC_SEED=${seed})`, () => {
    const linesOf = (text: string) => new Set(text.split(/\r?\n/));
    fc.assert(
      fc.property(relatives, ({ base, ours, theirs }) => {
        const known = new Set(['', ...linesOf(ours), ...linesOf(theirs)]);
        const { content } = mergeTexts({ base, ours, theirs }, plain);
        for (const line of linesOf(content)) if (!/^([<>=])\1{6}( |$)/.test(line)) expect(known).toContain(line);
      }),
      { seed, numRuns: runs },
    );
  });
}
