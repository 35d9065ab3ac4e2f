/** The sequence numbers that a pull leaves out, and what it chooses, case by case. */
import { describe, expect, test } from 'vitest';
import type { TailVersion } from '../../../src/sync/packs/view-types.ts';
import { type Choice, choose } from '../../../src/sync/pull/choose.ts';
import { SeqRanges } from '../../../src/sync/pull/seq-ranges.ts';
import { refusedWith } from '../../support/refused.ts';

test.each<[text: string | undefined, more: number[], inside: number[]]>([
  [undefined, [], []],
  ['', [], []],
  ['3', [], [3]],
  ['3-5', [], [3, 4, 5]],
  ['1,3-4,7', [], [1, 3, 4, 7]],
  ['3-3', [], [3]],
  ['2-3,4-5', [], [2, 3, 4, 5]],
  [undefined, [9, 2], [2, 9]],
  ['4', [2], [2, 4]],
])('[SYN-8] the ranges %j and %j leave out %j', (text, more, inside) => {
  const ranges = new SeqRanges(text, more);
  const all = Array.from({ length: 11 }, (_, seq) => seq);
  expect(all.filter((seq) => ranges.has(seq))).toEqual(inside);
});

test.each<[first: number, last: number, touches: boolean]>([
  [1, 2, false],
  [1, 3, true],
  [5, 6, true],
  [6, 8, false],
  [6, 9, true],
  [10, 11, false],
  [12, 20, true],
  [13, 20, false],
  [1, 20, true],
])('[SYN-8] the ranges 3-5,9 and 12 touch %i to %i: %s', (first, last, touches) => {
  expect(new SeqRanges('3-5,9', [12]).touches(first, last)).toBe(touches);
});

test.each(['a', '3-', '-3', '5-3', '3,3', '3-5,5', '5,3', '0', '3,,4', '3, 4', `1${'0'.repeat(15)}`])(
  '[SYN-8] %j is refused',
  (text) => {
    expect(refusedWith(() => new SeqRanges(text))).toEqual({ kind: 'invalid_fields', fields: ['skip'] });
  },
);

describe('[SYN-8, SYN-10] of changes that are not packed, a pull sends', () => {
  /** A file, a long file, a deletion, and two versions of one path. */
  const line = (seq: number, changes: Partial<TailVersion> = {}): TailVersion => ({
    seq,
    previousSeq: 0,
    deleted: false,
    long: false,
    lineBytes: 10,
    sizeBytes: 5,
    device: () => 'laptop',
    ...changes,
  });
  const tail = [
    line(1),
    line(2, { long: true, lineBytes: 100 }),
    line(3, { deleted: true, sizeBytes: 0 }),
    line(4, { device: () => 'phone' }),
    line(5, { previousSeq: 1 }),
  ];
  const everything: Choice = {
    after: 0,
    deletesAfter: 0,
    exceptDevice: undefined,
    skip: new SeqRanges(undefined),
    briefBytes: undefined,
    linesMax: 100,
    bytesMax: 1000,
    split: false,
  };
  type Row = [
    title: string,
    changes: Partial<Choice>,
    files: number[],
    tombstones: number[],
    upTo: number,
    hasMore: boolean,
  ];
  test.each<Row>([
    ['what is current', {}, [2, 3, 4, 5], [], 5, false],
    ['what comes after a position', { after: 2 }, [3, 4, 5], [], 5, false],
    ['nothing after the end', { after: 5 }, [], [], 5, false],
    ['deletions after a position of their own', { deletesAfter: 2 }, [2, 3, 4, 5], [], 5, false],
    ['no deletion up to that position', { deletesAfter: 3 }, [2, 4, 5], [], 5, false],
    ['not what the device sent', { exceptDevice: 'phone' }, [2, 3, 5], [], 5, false],
    ['not what is to be left out', { skip: new SeqRanges('3-4') }, [2, 5], [], 5, false],
    ['deletions apart', { split: true }, [2, 4, 5], [3], 5, false],
    ['as many lines as it may', { linesMax: 2 }, [2, 3], [], 3, true],
    ['as many lines as it may, deletions among them', { linesMax: 2, split: true }, [2], [3], 3, true],
    ['all of them when they fit', { linesMax: 4 }, [2, 3, 4, 5], [], 5, false],
    ['as many bytes as it may', { bytesMax: 110 }, [2, 3], [], 3, true],
    ['one byte less', { bytesMax: 109 }, [2], [], 2, true],
    ['the first line whatever its length', { bytesMax: 1 }, [2], [], 2, true],
    ['long lines in brief', { briefBytes: () => 10, bytesMax: 40 }, [2, 3, 4, 5], [], 5, false],
    ['long lines in brief, one byte less', { briefBytes: () => 10, bytesMax: 39 }, [2, 3, 4], [], 4, true],
  ])('%s', (_, changes, files, tombstones, upTo, hasMore) => {
    const chosen = choose({ seq: 5, packs: [], tail }, { ...everything, ...changes });
    const seqsOf = (plan: typeof chosen.files) =>
      plan.parts.flatMap((part) => (part.kind === 'versions' ? part.seqs : part.kind === 'pack' ? [] : [part.seq]));
    expect([seqsOf(chosen.files), seqsOf(chosen.tombstones)]).toEqual([files, tombstones]);
    expect([chosen.upTo, chosen.hasMore]).toEqual([upTo, hasMore]);
  });
});
