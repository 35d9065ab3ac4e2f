import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FolderNames, plainName } from '../../../src/transfer/plain/names.ts';
import { runs, seed } from '../../support/seed.ts';

const cases: readonly [title: string, text: string, name: string][] = [
  ['a plain title', 'On cairns', 'On cairns'],
  ['what Windows forbids', 'a/b\\c:d*e?f"g<h>i|j', 'a b c d e f g h i j'],
  ['control characters and many spaces', ' a\n\t\u0007 b ', 'a b'],
  ['dots and spaces at the end', 'Plan. . .', 'Plan'],
  ['only dots', '..', 'untitled'],
  ['nothing', '', 'untitled'],
  ['a device of Windows', 'CON', 'CON_'],
  ['a device with an extension', 'nul.md', 'nul.md_'],
  ['decomposed letters', 'Gru\u0308ße', 'Grüße'],
  ['a long title is cut between characters', '😀'.repeat(80), '😀'.repeat(50)],
];

for (const [title, text, name] of cases) {
  test(`[OPS-13] the name of a file: ${title}`, () => {
    expect(plainName(text)).toBe(name);
  });
}

test('[OPS-13] no two files of a folder have the same name on any system', () => {
  const names = new FolderNames();
  expect(['Plan', 'plan', 'Plan.md', 'PLAN', 'a.json'].map((text) => names.give(text, '.md'))).toEqual([
    'Plan.md',
    'plan (2).md',
    'Plan (3).md',
    'PLAN (4).md',
    'a.json',
  ]);
  expect(new FolderNames().give('Primary', '')).toBe('Primary');
});

test(`[OPS-13] every text makes a name that every system holds (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      const name = new FolderNames().give(text.toWellFormed(), '.md');
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      expect(name).toMatch(/^(?!\.{1,2}$)[^\p{Cc}/\\:*?"<>|]+[^. ]$/u);
    }),
    { seed, numRuns: runs(300) },
  );
});
