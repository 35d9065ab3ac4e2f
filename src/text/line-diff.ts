/**
 * Owns which lines differ between two texts. Lines that cannot help to match are set aside before the search, and each
 * change that could stand in several places is moved to the one where git shows it: lowest, or beside a change of the
 * other text.
 */
import { type NumberedLines, numberLines } from './lines.ts';
import { type Marks, markShortestScript } from './myers.ts';

/** `count` lines from `left` on became `rightCount` lines from `right` on; one of the counts may be 0. */
export interface LineChange {
  readonly left: number;
  readonly leftCount: number;
  readonly right: number;
  readonly rightCount: number;
}

/** The changes that make `right` of `left`, in order; two of them never touch. */
export function diffLines(left: readonly string[], right: readonly string[]): LineChange[] {
  const numbered = numberLines(left, right);
  const marks = markChanges(numbered);
  settleChanges(numbered.left, marks.left, unchangedGaps(marks.right));
  settleChanges(numbered.right, marks.right, unchangedGaps(marks.left));
  return listChanges(marks);
}

/** How a line may serve as a match: it has none in the other text, some, or so many that each says little. */
const NO_MATCH = 0;
const SOME_MATCHES = 1;
const MANY_MATCHES = 2;
/** As far as this a line's surroundings are looked at. */
const SURROUNDING_LINES = 100;
/** A line with many matches is set aside when fewer than one in this many around it are of its kind. */
const MANY_SHARE = 4;

/** Searches between the common start and the common end, over the lines that may match. */
function markChanges({ left, right, distinct }: NumberedLines): Marks {
  const lengthMax = Math.min(left.length, right.length);
  let start = 0;
  while (start < lengthMax && left[start] === right[start]) start += 1;
  let tail = 0;
  while (tail < lengthMax - start && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail += 1;
  const inLeft = candidates(left, countEach(right, distinct), start, left.length - tail);
  const inRight = candidates(right, countEach(left, distinct), start, right.length - tail);
  const found = markShortestScript(pick(left, inLeft), pick(right, inRight));
  return {
    left: spread(found.left, inLeft, left.length, start, tail),
    right: spread(found.right, inRight, right.length, start, tail),
  };
}

function countEach(lines: Int32Array, distinct: number): Int32Array {
  const counts = new Int32Array(distinct);
  for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
  return counts;
}

/** The places from `start` to `end` of the lines that the search looks at. */
function candidates(lines: Int32Array, otherCounts: Int32Array, start: number, end: number): Int32Array {
  const many = nearRoot(lines.length);
  const kinds = new Uint8Array(end - start);
  for (let at = start; at < end; at += 1) {
    const matches = otherCounts[lines[at] ?? 0] ?? 0;
    kinds[at - start] = matches === 0 ? NO_MATCH : matches < many ? SOME_MATCHES : MANY_MATCHES;
  }
  const kept = new Int32Array(end - start);
  let count = 0;
  for (let at = 0; at < kinds.length; at += 1) {
    const kind = kinds[at];
    if (kind === NO_MATCH || (kind === MANY_MATCHES && isAmongUnmatched(kinds, at))) continue;
    kept[count] = at + start;
    count += 1;
  }
  return kept.subarray(0, count);
}

/** A power of two near the square root of `count`, at most 1024. */
function nearRoot(count: number): number {
  const digitsBase4 = count === 0 ? 0 : ((31 - Math.clz32(count)) >> 1) + 1;
  return Math.min(2 ** digitsBase4, 1024);
}

/** Whether a line with many matches stands among lines without any, above and below, so that it is most likely new too. */
function isAmongUnmatched(kinds: Uint8Array, at: number): boolean {
  const above = countRun(kinds, at, -1);
  if (above.unmatched === 0) return false;
  const below = countRun(kinds, at, 1);
  if (below.unmatched === 0) return false;
  const many = above.many + below.many;
  return many * MANY_SHARE < many + above.unmatched + below.unmatched;
}

/** Counts the lines of either kind next to `at`, itself among the many, as far as no line with some matches comes. */
function countRun(kinds: Uint8Array, at: number, step: 1 | -1): { readonly unmatched: number; readonly many: number } {
  let unmatched = 0;
  let many = 1;
  for (let distance = 1; distance <= SURROUNDING_LINES; distance += 1) {
    const kind = kinds[at + distance * step];
    if (kind === undefined || kind === SOME_MATCHES) break;
    if (kind === NO_MATCH) unmatched += 1;
    else many += 1;
  }
  return { unmatched, many };
}

function pick(lines: Int32Array, places: Int32Array): Int32Array {
  return places.map((place) => lines[place] ?? 0);
}

/** The marks of the picked lines at their places; what was set aside between start and end counts as changed. */
function spread(found: Uint8Array, places: Int32Array, length: number, start: number, tail: number): Uint8Array {
  const marks = new Uint8Array(length).fill(1, start, length - tail);
  for (let at = 0; at < places.length; at += 1) marks[places[at] ?? 0] = found[at] ?? 0;
  return marks;
}

/** By number of unchanged lines before it: whether a change stands there. */
function unchangedGaps(marks: Uint8Array): Uint8Array {
  const gaps = new Uint8Array(marks.length + 1);
  let unchanged = 0;
  for (const mark of marks) {
    if (mark === 1) gaps[unchanged] = 1;
    else unchanged += 1;
  }
  return gaps;
}

/**
 * Moves each change of one text to its place. A change between equal lines can move: up while the line above it equals
 * its last, down while the line below equals its first; changes that meet become one. It ends lowest, but when it passed
 * a place where the other text has a change too, at the last such place.
 */
function settleChanges(lines: Int32Array, marks: Uint8Array, otherGaps: Uint8Array): void {
  const group = new MovingGroup(lines, marks);
  while (group.next()) {
    let size: number;
    let beside: number;
    let top: number;
    do {
      size = group.size;
      while (group.up());
      top = group.unchanged;
      beside = otherGaps[top] === 1 ? top : -1;
      while (group.down()) if (otherGaps[group.unchanged] === 1) beside = group.unchanged;
    } while (group.size !== size);
    if (beside >= top) while (group.unchanged > beside) group.up();
  }
}

/** One run of changed lines that is moved among the unchanged ones. */
class MovingGroup {
  readonly #lines: Int32Array;
  readonly #marks: Uint8Array;
  #start = 0;
  #end = -1;
  /** Unchanged lines before it. */
  unchanged = -1;

  constructor(lines: Int32Array, marks: Uint8Array) {
    this.#lines = lines;
    this.#marks = marks;
  }

  get size(): number {
    return this.#end - this.#start;
  }

  /** Goes to the next run behind this one; false when there is none. */
  next(): boolean {
    let at = this.#end;
    do {
      at += 1;
      this.unchanged += 1;
      if (at > this.#marks.length) return false;
    } while (this.#marks[at] !== 1);
    this.#start = at;
    this.#end = at;
    this.#takeBelow();
    return true;
  }

  up(): boolean {
    if (this.#start === 0 || this.#lines[this.#start - 1] !== this.#lines[this.#end - 1]) return false;
    this.#start -= 1;
    this.#end -= 1;
    this.#marks[this.#start] = 1;
    this.#marks[this.#end] = 0;
    this.unchanged -= 1;
    while (this.#marks[this.#start - 1] === 1) this.#start -= 1;
    return true;
  }

  down(): boolean {
    if (this.#end === this.#marks.length || this.#lines[this.#start] !== this.#lines[this.#end]) return false;
    this.#marks[this.#start] = 0;
    this.#marks[this.#end] = 1;
    this.#start += 1;
    this.#end += 1;
    this.unchanged += 1;
    this.#takeBelow();
    return true;
  }

  #takeBelow(): void {
    while (this.#marks[this.#end] === 1) this.#end += 1;
  }
}

function listChanges(marks: Marks): LineChange[] {
  const changes: LineChange[] = [];
  let [left, right] = [0, 0];
  while (left < marks.left.length || right < marks.right.length) {
    const [fromLeft, fromRight] = [left, right];
    while (marks.left[left] === 1) left += 1;
    while (marks.right[right] === 1) right += 1;
    const [leftCount, rightCount] = [left - fromLeft, right - fromRight];
    if (leftCount > 0 || rightCount > 0) changes.push({ left: fromLeft, leftCount, right: fromRight, rightCount });
    else {
      left += 1;
      right += 1;
    }
  }
  return changes;
}
