/** Merges and diffs beside git's own, hostile texts included; the long test makes forty times as many of the random ones. */
import { expect, test } from 'vitest';
import { besideGit, gitMerge, labels, merged } from './beside-git.ts';

besideGit({ merges: 50, diffs: 15 });

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
  expect(merged(texts, { favor: 'none', style: 'merge', labels })).toEqual(gitMerge(texts, 'none', 'merge'));
});
