/** Texts that have something in common: one base, and what two hands made of it. For tests of diff and merge. */
import fc from 'fast-check';

export interface Relatives {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly number[];
  /** Puts what was removed somewhere else. */
  readonly moveTo: number | undefined;
}

const FAR = 10_000;

function edits(words: number): fc.Arbitrary<Edit[]> {
  const edit = fc.record({
    at: fc.nat({ max: FAR }),
    remove: fc.nat({ max: 4 }),
    insert: fc.array(fc.nat({ max: words - 1 }), { maxLength: 4 }),
    moveTo: fc.option(fc.nat({ max: FAR }), { nil: undefined, freq: 3 }),
  });
  return fc.array(edit, { maxLength: 5 });
}

function apply(lines: readonly number[], changes: readonly Edit[]): number[] {
  const result = [...lines];
  for (const { at, remove, insert, moveTo } of changes) {
    const removed = result.splice(at % (result.length + 1), remove, ...insert);
    if (moveTo !== undefined) result.splice(moveTo % (result.length + 1), 0, ...removed);
  }
  return result;
}

/** Mostly line feeds, sometimes the other convention, sometimes no end after the last line. */
const ending = fc.record({
  lineEnd: fc.constantFrom('\n', '\n', '\n', '\r\n'),
  last: fc.constantFrom(true, true, true, false),
});

/** A base and two texts made of it; the second hand sometimes goes on from the first one's text. */
export const relatives: fc.Arbitrary<Relatives> = fc
  .record({ words: fc.constantFrom(2, 4, 20, 500), length: fc.constantFrom(0, 4, 12, 40, 150) })
  .chain(({ words, length }) =>
    fc.record({
      base: fc.array(fc.nat({ max: words - 1 }), { maxLength: length, size: 'max' }),
      ourEdits: edits(words),
      theirEdits: edits(words),
      goesOn: fc.constantFrom(false, false, false, true),
      common: ending,
      own: fc.tuple(...[0, 1, 2].map(() => fc.option(ending, { nil: undefined, freq: 8 }))),
    }),
  )
  .map(({ base, ourEdits, theirEdits, goesOn, common, own }) => {
    const write = (lines: readonly number[], { lineEnd, last } = common) => {
      const text = lines.map((line) => (line % 3 === 0 ? '' : `word ${line}`)).join(lineEnd);
      return last && lines.length > 0 ? text + lineEnd : text;
    };
    const ours = apply(base, ourEdits);
    const theirs = apply(goesOn ? ours : base, theirEdits);
    const [baseEnding, ourEnding, theirEnding] = own.map((one) => one ?? common);
    return { base: write(base, baseEnding), ours: write(ours, ourEnding), theirs: write(theirs, theirEnding) };
  });
