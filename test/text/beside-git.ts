/** The three-way merge and the diff beside git's own, over generated texts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch, parsePatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ConflictStyle, type Favor, type MergeOptions, mergeTexts } from '../../src/text/merge.ts';
import { unifiedDiff } from '../../src/text/unified-diff.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Relatives, relatives } from '../support/texts.ts';

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** git tells no larger number of conflicts. */
const GIT_CONFLICTS_MAX = 127;
export const labels = { base: 'the base', ours: 'our side', theirs: 'their side' };
const folder = temporaryFolder();
for (const side of ['a', 'b']) mkdirSync(join(folder, side));

function git(args: readonly string[]) {
  const { stdout, status, stderr } = spawnSync('git', args, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  if (status === null || status > GIT_CONFLICTS_MAX) throw new Error(`git failed: ${stderr.toString()}`);
  return { text: stdout.toString(), status };
}

export function gitMerge({ base, ours, theirs }: Relatives, favor: Favor, style: ConflictStyle) {
  writeFileSync(join(folder, 'base'), base);
  writeFileSync(join(folder, 'ours'), ours);
  writeFileSync(join(folder, 'theirs'), theirs);
  const flags = [...(favor === 'none' ? [] : [`--${favor}`]), ...(style === 'diff3' ? ['--diff3'] : [])];
  const names = [labels.ours, labels.base, labels.theirs].flatMap((label) => ['-L', label]);
  const { text, status } = git(['merge-file', '-p', ...flags, ...names, 'ours', 'base', 'theirs']);
  return { content: text, conflicts: status };
}

export const merged = (texts: Relatives, options: MergeOptions) => {
  const { content, conflicts } = mergeTexts(texts, options);
  return { content, conflicts: Math.min(conflicts, GIT_CONFLICTS_MAX) };
};

/** Declares the tests of so many merges and diffs. */
export function besideGit({ merges, diffs }: { readonly merges: number; readonly diffs: number }): void {
  test(`[SYN-13] ${merges} merges of related texts are those of git merge-file, byte by byte (FC_SEED=${seed})`, () => {
    let withConflicts = 0;
    const way = fc.constantFrom<[Favor, ConflictStyle]>(
      ['none', 'merge'],
      ['none', 'merge'],
      ['none', 'merge'],
      ['none', 'diff3'],
      ['ours', 'merge'],
      ['theirs', 'merge'],
    );
    fc.assert(
      fc.property(relatives, way, (texts, [favor, style]) => {
        const expected = gitMerge(texts, favor, style);
        if (expected.conflicts > 0) withConflicts += 1;
        expect(merged(texts, { favor, style, labels })).toEqual(expected);
      }),
      { seed, numRuns: merges },
    );
    // Both kinds came often.
    expect(withConflicts).toBeGreaterThan(merges / 10);
    expect(withConflicts).toBeLessThan(merges * 0.9);
  }, 180_000);

  test(`[SYN-12] ${diffs} unified diffs are those of git diff, and give the new text when they are applied (FC_SEED=${seed})`, () => {
    fc.assert(
      fc.property(relatives, fc.nat({ max: 5 }), ({ base: before, ours: after }, contextLines) => {
        const diff = unifiedDiff({ before, after, beforeName: 'a/text', afterName: 'b/text', contextLines });
        writeFileSync(join(folder, 'a/text'), before);
        writeFileSync(join(folder, 'b/text'), after);
        const flags = [
          '--no-index',
          '--no-indent-heuristic',
          '--diff-algorithm=myers',
          '--no-prefix',
          `-U${contextLines}`,
        ];
        const { text } = git(['-c', 'core.autocrlf=false', 'diff', ...flags, 'a/text', 'b/text']);
        // What git adds: lines above the names, and a line of the text after the ranges of a hunk.
        const expected = text.slice(Math.max(text.indexOf('--- '), 0)).replace(/^(@@ .*? @@).*$/gm, '$1');
        expect(diff).toBe(text === '' ? '' : expected);
        if (contextLines > 0 && diff !== '') expect(applyPatch(before, parsePatch(diff)[0] ?? '')).toBe(after);
      }),
      { seed, numRuns: diffs },
    );
  }, 180_000);
}
