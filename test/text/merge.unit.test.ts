/** The three-way merge by itself: what must hold for any. */
import { expect, test } from 'vitest';
import { type MergeOptions, mergeWhole } from '../../src/text/merge.ts';
import { mergeProperties } from './merge-properties.ts';

const labels = { base: 'the base', ours: 'our side', theirs: 'their side' };
const plain: MergeOptions = { favor: 'none', style: 'merge', labels };

// test/text/beside-git.long.test.ts makes 3,000 of each.
mergeProperties(500);

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
