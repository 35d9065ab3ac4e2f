/**
 * Finds the lines that differ between two texts. Cuts off the common head and tail, compares the remaining lines that
 * may match (candidates.ts, myers.ts), and moves each change to its most readable position (slide.ts).
 */
import { findCandidates, type LineRange } from './candidates.ts';
import { type NumberedLines, numberLines } from './lines.ts';
import { type Matches, matchSequences } from './myers.ts';
import { type Run, slideRuns } from './slide.ts';

/** `leftCount` lines from `left` on became `rightCount` lines from `right` on. One of the counts may be 0. */
export interface LineChange {
  readonly left: number;
  readonly leftCount: number;
  readonly right: number;
  readonly rightCount: number;
}

/** Returns the changes that turn `left` into `right`, in order. No two changes touch. */
export function diffLines(left: readonly string[], right: readonly string[]): LineChange[] {
  const numbered = numberLines(left, right);
  const head = countCommonHead(numbered);
  const tail = countCommonTail(numbered, head);
  const matches = matchBetween(numbered, head, tail);
  const removed = runsBetween(matches.left, { start: head, end: left.length - tail });
  const added = runsBetween(matches.right, { start: head, end: right.length - tail });
  const settled = slideRuns(numbered.left, removed, added);
  return pairRuns(settled, slideRuns(numbered.right, added, settled));
}

function countCommonHead({ left, right }: NumberedLines): number {
  const lengthMax = Math.min(left.length, right.length);
  let head = 0;
  while (head < lengthMax && left[head] === right[head]) head += 1;
  return head;
}

/** Counts the equal lines at the end that are not part of the common head. */
function countCommonTail({ left, right }: NumberedLines, head: number): number {
  const lengthMax = Math.min(left.length, right.length) - head;
  let tail = 0;
  while (tail < lengthMax && left[left.length - 1 - tail] === right[right.length - 1 - tail]) tail += 1;
  return tail;
}

/** Returns the indexes of matching lines between the common head and tail. */
function matchBetween({ left, right, distinct }: NumberedLines, head: number, tail: number): Matches {
  const inLeft = findCandidates(left, { start: head, end: left.length - tail }, countEach(right, distinct));
  const inRight = findCandidates(right, { start: head, end: right.length - tail }, countEach(left, distinct));
  const found = matchSequences(pick(left, inLeft), pick(right, inRight));
  return { left: pick(inLeft, found.left), right: pick(inRight, found.right) };
}

function countEach(lines: Int32Array, distinct: number): Int32Array {
  const counts = new Int32Array(distinct);
  for (const line of lines) counts[line] = (counts[line] ?? 0) + 1;
  return counts;
}

function pick(values: Int32Array, places: Int32Array): Int32Array {
  return places.map((place) => values[place] ?? 0);
}

/** Returns the runs of unmatched lines in `span`. Every line before `span` is unchanged. */
function runsBetween(matches: Int32Array, { start, end }: LineRange): Run[] {
  const runs: Run[] = [];
  let from = start;
  for (let index = 0; index <= matches.length; index += 1) {
    const to = matches[index] ?? end;
    if (to > from) runs.push({ gap: start + index, count: to - from });
    from = to + 1;
  }
  return runs;
}

/** Joins removed and added lines into one change if the same number of unchanged lines precedes them. */
function pairRuns(removed: readonly Run[], added: readonly Run[]): LineChange[] {
  const changes: LineChange[] = [];
  let [nextRemoved, nextAdded] = [0, 0];
  let [removedBefore, addedBefore] = [0, 0];
  while (nextRemoved < removed.length || nextAdded < added.length) {
    const gap = Math.min(removed[nextRemoved]?.gap ?? Infinity, added[nextAdded]?.gap ?? Infinity);
    const leftCount = removed[nextRemoved]?.gap === gap ? (removed[nextRemoved]?.count ?? 0) : 0;
    const rightCount = added[nextAdded]?.gap === gap ? (added[nextAdded]?.count ?? 0) : 0;
    changes.push({ left: gap + removedBefore, leftCount, right: gap + addedBefore, rightCount });
    if (leftCount > 0) nextRemoved += 1;
    if (rightCount > 0) nextAdded += 1;
    removedBefore += leftCount;
    addedBefore += rightCount;
  }
  return changes;
}
