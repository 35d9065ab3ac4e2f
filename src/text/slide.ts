/**
 * Decides where to show a change. A change between equal lines has several possible positions: if two of the lines `a b
 * a b` are new, they can be the first two, the middle two or the last two. Each change is shown at its lowest position,
 * or next to a change of the other text if possible, as measured on `git merge-file`.
 */

/** Consecutive changed lines of a text. */
export interface Run {
  /** Number of unchanged lines before the run. No two runs of a text have the same number. */
  readonly gap: number;
  readonly count: number;
}

/**
 * Moves each run of changed lines to its position, from the top. Runs that meet are joined. Costs one comparison for
 * each line that a run passes.
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

/** A text and its runs, above and below the run being moved. */
interface Column {
  readonly lines: Int32Array;
  readonly above: Run[];
  /** Number of lines in the runs above. */
  changedAbove: number;
  /** In reverse order: the next run is the last element. */
  readonly below: Run[];
}

/** Returns the highest gap and the lowest position of a run, after joining every run that it meets on the way. */
function findRange(column: Column, from: Run): { readonly top: number; readonly bottom: Run } {
  for (let run = from; ; ) {
    const risen = rise(column, run);
    const bottom = sink(column, risen);
    if (bottom.count === run.count) return { top: risen.gap, bottom };
    // A run that has grown may move further up and down.
    run = bottom;
  }
}

/** Moves a run up as far as possible: by one line each time the line above it equals its last line. */
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

/** Moves a run down as far as possible: by one line each time the line below it equals its first line. */
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
