/**
 * Decides which lines of a text are worth comparing with another text. A line with no equal in the other text never
 * matches. A line with many equals (a blank one, a closing brace) among such lines would match only by chance and split
 * one change in two. The thresholds are measured behaviour of `git merge-file`.
 */

/** Number of lines above and below a line that count as its surroundings. */
const SURROUNDINGS = 100;
const FREQUENT_MAX = 1024;

/** Part of a text; `end` is not included. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the indexes in `range` to compare, ascending. `equals[n]` is how often the line with number n occurs in the
 * other text.
 */
export function findCandidates(lines: Int32Array, { start, end }: LineRange, equals: Int32Array): Int32Array {
  const kinds = classify(lines.subarray(start, end), equals, frequentThreshold(lines.length));
  const kept = new Int32Array(kinds.length);
  let count = 0;
  let stretch = 0;
  for (let at = 0; at <= kinds.length; at += 1) {
    if (at < kinds.length && kinds[at] !== TELLING) continue;
    for (const place of worthKeeping(kinds, stretch, at)) {
      kept[count] = start + place;
      count += 1;
    }
    if (at < kinds.length) {
      kept[count] = start + at;
      count += 1;
    }
    stretch = at + 1;
  }
  return kept.subarray(0, count);
}

/** Kinds of lines: NEW has no equal in the other text, FREQUENT too many for a match to mean much, TELLING some. */
const NEW = 0;
const FREQUENT = 1;
const TELLING = 2;

function classify(lines: Int32Array, equals: Int32Array, frequentFrom: number): Uint8Array {
  const kinds = new Uint8Array(lines.length);
  for (let at = 0; at < lines.length; at += 1) {
    const count = equals[lines[at] ?? 0] ?? 0;
    kinds[at] = count === 0 ? NEW : count < frequentFrom ? TELLING : FREQUENT;
  }
  return kinds;
}

/**
 * Returns the number of equals from which a line counts as frequent. It doubles each time a text becomes four times as
 * long.
 */
function frequentThreshold(lines: number): number {
  const digitsInBase4 = lines.toString(4).length;
  return Math.min(2 ** digitsInBase4, FREQUENT_MAX);
}

/**
 * Returns the frequent lines to keep in a stretch without telling lines. A line is dropped when new lines occur both
 * above and below it and make up more than three quarters of its surroundings.
 */
function worthKeeping(kinds: Uint8Array, start: number, end: number): number[] {
  const kept: number[] = [];
  if (start === end) return kept;
  const frequentBefore = new Int32Array(end - start + 1);
  for (let at = start; at < end; at += 1)
    frequentBefore[at - start + 1] = (frequentBefore[at - start] ?? 0) + (kinds[at] ?? 0);
  const frequentIn = (from: number, to: number) =>
    (frequentBefore[to - start] ?? 0) - (frequentBefore[from - start] ?? 0);
  for (let at = start; at < end; at += 1) {
    if (kinds[at] === NEW) continue;
    const from = Math.max(at - SURROUNDINGS, start);
    const to = Math.min(at + 1 + SURROUNDINGS, end);
    const isEnclosed = frequentIn(from, at) < at - from && frequentIn(at + 1, to) < to - at - 1;
    // The line itself counts twice, once for each side.
    const isOutnumbered = 4 * (frequentIn(from, to) + 1) < to - from + 1;
    if (!(isEnclosed && isOutnumbered)) kept.push(at);
  }
  return kept;
}
