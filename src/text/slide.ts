/**
 * Owns where a change is shown. A change between equal lines can stand in several places: with lines `a b a b` and two
 * of them new, the new ones may be the first two, the middle ones or the last two. Each change is shown at its lowest
 * place, or beside a change of the other text if it can stand there, as measured on `git merge-file`.
 */

/** Consecutive changed lines of a text. */
export interface Run {
  /** How many unchanged lines stand before it; no other run of its text has the same number. */
  readonly gap: number;
  readonly count: number;
}

/**
 * Moves each run of changed lines to its place, from the top. Runs that meet become one. Costs one comparison for each
 * line that a run passes.
 */
export function slideRuns(lines: Int32Array, runs: readonly Run[], others: readonly Run[]): Run[] {
  const otherGaps = new Set(others.map(({ gap }) => gap));
  const column: Column = { lines, above: [], changedAbove: 0, below: runs.toReversed() };
  for (let run = column.below.pop(); run !== undefined; run = column.below.pop()) {
    const { top, bottom } = findRange(column, run);
    let gap = bottom.gap;
    while (gap >= top && !otherGaps.has(gap)) gap -= 1;
    column.above.push({ gap: gap < top ? bottom.gap : gap, count: bottom.count });
    column.changedAbove += bottom.count;
  }
  return column.above;
}

/** A text and its runs, parted by the one that moves. */
interface Column {
  readonly lines: Int32Array;
  readonly above: Run[];
  /** The number of lines in the runs above. */
  changedAbove: number;
  /** The next one is last. */
  readonly below: Run[];
}

/** The highest gap and the lowest place of a run, after it has taken in every run that it meets on the way. */
function findRange(column: Column, from: Run): { readonly top: number; readonly bottom: Run } {
  for (let run = from; ; ) {
    const risen = rise(column, run);
    const bottom = sink(column, risen);
    if (bottom.count === run.count) return { top: risen.gap, bottom };
    // A run that has grown may go further up and down.
    run = bottom;
  }
}

/** A run can move up one line if the line above it equals its last one. */
function rise(column: Column, { gap, count }: Run): Run {
  const { lines, above } = column;
  let [highest, size] = [gap, count];
  let start = column.changedAbove + gap;
  while (highest > 0 && lines[start - 1] === lines[start - 1 + size]) {
    highest -= 1;
    start -= 1;
    const met = above.at(-1)?.gap === highest ? above.pop() : undefined;
    if (met === undefined) continue;
    start -= met.count;
    size += met.count;
    column.changedAbove -= met.count;
  }
  return { gap: highest, count: size };
}

/** A run can move down one line if the line below it equals its first one. */
function sink({ lines, below, changedAbove }: Column, { gap, count }: Run): Run {
  let [lowest, size] = [gap, count];
  while (changedAbove + lowest + size < lines.length) {
    const start = changedAbove + lowest;
    if (lines[start] !== lines[start + size]) break;
    lowest += 1;
    if (below.at(-1)?.gap === lowest) size += below.pop()?.count ?? 0;
  }
  return { gap: lowest, count: size };
}
