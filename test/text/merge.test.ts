/** The three-way merge and the diff beside git's own, over generated texts; what must hold for any; hostile texts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyPatch, parsePatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ConflictStyle, type Favor, type MergeOptions, mergeTexts, mergeWhole } from '../../src/text/merge.ts';
import { unifiedDiff } from '../../src/text/unified-diff.ts';
import { seed } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Relatives, relatives } from '../support/texts.ts';

const MERGES = 2000;
const DIFFS = 600;
const PROPERTY_RUNS = 3000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** git tells no larger number of conflicts. */
const GIT_CONFLICTS_MAX = 127;
const labels = { base: 'the base', ours: 'our side', theirs: 'their side' };
const plain: MergeOptions = { favor: 'none', style: 'merge', labels };
const folder = temporaryFolder();
for (const side of ['a', 'b']) mkdirSync(join(folder, side));

function git(args: readonly string[]) {
  const { stdout, status, stderr } = spawnSync('git', args, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  if (status === null || status > GIT_CONFLICTS_MAX) throw new Error(`git failed: ${stderr.toString()}`);
  return { text: stdout.toString(), status };
}

function gitMerge({ base, ours, theirs }: Relatives, favor: Favor, style: ConflictStyle) {
  writeFileSync(join(folder, 'base'), base);
  writeFileSync(join(folder, 'ours'), ours);
  writeFileSync(join(folder, 'theirs'), theirs);
  const flags = [...(favor === 'none' ? [] : [`--${favor}`]), ...(style === 'diff3' ? ['--diff3'] : [])];
  const names = [labels.ours, labels.base, labels.theirs].flatMap((label) => ['-L', label]);
  const { text, status } = git(['merge-file', '-p', ...flags, ...names, 'ours', 'base', 'theirs']);
  return { content: text, conflicts: status };
}

const merged = (texts: Relatives, options: MergeOptions) => {
  const { content, conflicts } = mergeTexts(texts, options);
  return { content, conflicts: Math.min(conflicts, GIT_CONFLICTS_MAX) };
};

test(`[SYN-13] ${MERGES} merges of related texts are those of git merge-file, byte by byte (FC_SEED=${seed})`, () => {
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
    { seed, numRuns: MERGES },
  );
  // Both kinds came often.
  expect(withConflicts).toBeGreaterThan(MERGES / 10);
  expect(withConflicts).toBeLessThan(MERGES * 0.9);
}, 180_000);

test(`[SYN-12] ${DIFFS} unified diffs are those of git diff, and give the new text when they are applied (FC_SEED=${seed})`, () => {
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
      // What git adds: lines above the names, and a line of the text behind the ranges of a hunk.
      const expected = text.slice(Math.max(text.indexOf('--- '), 0)).replace(/^(@@ .*? @@).*$/gm, '$1');
      expect(diff).toBe(text === '' ? '' : expected);
      if (contextLines > 0 && diff !== '') expect(applyPatch(before, parsePatch(diff)[0] ?? '')).toBe(after);
    }),
    { seed, numRuns: DIFFS },
  );
}, 180_000);

test(`[SYN-13] a side that changed nothing leaves the merge to the other (FC_SEED=${seed})`, () => {
  fc.assert(
    fc.property(relatives, ({ base, ours }) => {
      expect(mergeTexts({ base, ours, theirs: base }, plain)).toEqual({ content: ours, conflicts: 0 });
      expect(mergeTexts({ base, ours: base, theirs: ours }, plain)).toEqual({ content: ours, conflicts: 0 });
      expect(mergeTexts({ base, ours, theirs: ours }, plain)).toEqual({ content: ours, conflicts: 0 });
      expect(mergeTexts({ base: ours, ours, theirs: ours }, plain)).toEqual({ content: ours, conflicts: 0 });
    }),
    { seed, numRuns: PROPERTY_RUNS },
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
    { seed, numRuns: PROPERTY_RUNS },
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
    { seed, numRuns: PROPERTY_RUNS },
  );
});

test('[SYN-13] without an ancestor the whole is one conflict, or what is favored', () => {
  const ours = 'one\r\ntwo';
  const theirs = 'one\r\nthree\r\n';
  expect(mergeWhole({ ours, theirs }, plain)).toEqual({
    content: `<<<<<<< our side\r\none\r\ntwo\r\n=======\r\none\r\nthree\r\n>>>>>>> their side\r\n`,
    conflicts: 1,
  });
  expect(mergeWhole({ ours, theirs: '' }, { ...plain, style: 'diff3' }).content).toBe(
    `<<<<<<< our side\r\none\r\ntwo\r\n=======\r\n>>>>>>> their side\r\n`,
  );
  expect(mergeWhole({ ours, theirs }, { ...plain, favor: 'theirs' })).toEqual({ content: theirs, conflicts: 0 });
  expect(mergeWhole({ ours, theirs }, { ...plain, favor: 'ours' })).toEqual({ content: ours, conflicts: 0 });
  expect(mergeWhole({ ours, theirs: ours }, plain)).toEqual({ content: ours, conflicts: 0 });
});

const MANY = 20_000;
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`);
/** The same lines in an order that has nothing to do with theirs, without chance. */
const scattered = (all: readonly string[], step: number) => all.map((_, at) => all[(at * step) % all.length] ?? '');
const ordered = lines(MANY, String);

const hostile: Readonly<Record<string, readonly [base: string[], ours: string[], theirs: string[]]>> = {
  '1,200 equal lines': [lines(1200, () => ''), lines(1199, () => ''), ['x\n', ...lines(1200, () => '')]],
  '20,000 equal lines': [lines(MANY, () => 'a'), lines(MANY - 500, () => 'a'), ['x\n', ...lines(MANY - 1, () => 'a')]],
  '20,000 lines all different': [
    lines(MANY, (at) => `a${at}`),
    lines(MANY, (at) => `b${at}`),
    lines(MANY, (at) => `c${at}`),
  ],
  'the same lines in three orders': [ordered, scattered(ordered, 7919), scattered(ordered, 12_347)],
  'a reversed order': [ordered, [...ordered].reverse(), scattered(ordered, 3)],
  'two words in three rhythms': [
    lines(MANY, (at) => String(((at * at) % 7) & 1)),
    lines(MANY, (at) => String(((at * at) % 11) & 1)),
    lines(MANY, (at) => String(((at * at) % 13) & 1)),
  ],
  'every other line new': [
    lines(MANY, (at) => (at % 2 === 0 ? 'a' : `b${at}`)),
    lines(MANY, (at) => (at % 2 === 0 ? 'a' : `c${at}`)),
    lines(MANY, (at) => (at % 2 === 0 ? 'a' : `d${at}`)),
  ],
};

test.each(Object.entries(hostile))('[SYN-13] %s are merged as git merges them', (_name, [base, ours, theirs]) => {
  const texts = { base: base.join(''), ours: ours.join(''), theirs: theirs.join('') };
  expect(merged(texts, plain)).toEqual(gitMerge(texts, 'none', 'merge'));
});
