/**
 * Owns the three-way decision over lines: which parts of a merge come from which side, and where both changed the same
 * part in different ways (diff3; Khanna, Kunal, Pierce, "A Formal Investigation of Diff3", 2007). When changes count as
 * touching, and which conflicts are split or joined, is measured behaviour of `git merge-file`.
 */
import { diffLines, type LineChange } from './line-diff.ts';

/** A part of the merge that differs from the ancestor; what lies between two regions is the same in `ours` and in the merge. */
export interface MergeRegion {
  readonly take: 'ours' | 'theirs' | 'conflict';
  readonly base: number;
  readonly baseCount: number;
  readonly ours: number;
  readonly oursCount: number;
  readonly theirs: number;
  readonly theirsCount: number;
}

type Lines = readonly string[];

/** Conflicts with up to this many common lines between them are shown as one. */
const JOINING_LINES_MAX = 3;

/** The regions of a merge, in order, each conflict as large as its changes of the ancestor. */
export function mergeRegions(base: Lines, ours: Lines, theirs: Lines): MergeRegion[] {
  const regions: MergeRegion[] = [];
  const our = new Side(diffLines(base, ours));
  const their = new Side(diffLines(base, theirs));
  for (;;) {
    const start = Math.min(our.nextStart, their.nextStart);
    if (start === Infinity) return regions;
    const [fromOurs, fromTheirs] = [start + our.growth, start + their.growth];
    const { end, ourChanges, theirChanges } = takeCluster(our, their, start);
    if (isSameChange(ourChanges, theirChanges, ours, theirs)) continue;
    regions.push({
      take: theirChanges.length === 0 ? 'ours' : ourChanges.length === 0 ? 'theirs' : 'conflict',
      base: start,
      baseCount: end - start,
      ours: fromOurs,
      oursCount: end + our.growth - fromOurs,
      theirs: fromTheirs,
      theirsCount: end + their.growth - fromTheirs,
    });
  }
}

/** What one side changed, read from the top. */
class Side {
  readonly #changes: readonly LineChange[];
  #next = 0;
  /** How many lines more than the ancestor this side has, in what was read. */
  growth = 0;

  constructor(changes: readonly LineChange[]) {
    this.#changes = changes;
  }

  /** Where the next change starts in the ancestor; infinite after the last one. */
  get nextStart(): number {
    return this.#changes[this.#next]?.left ?? Infinity;
  }

  /** The next change, if it starts at or before a line of the ancestor. */
  takeUpTo(line: number): LineChange | undefined {
    const change = this.#changes[this.#next];
    if (change === undefined || change.left > line) return undefined;
    this.#next += 1;
    this.growth += change.rightCount - change.leftCount;
    return change;
  }
}

/** Reads every change that touches or overlaps, directly or through others, the one at `start`; up to `end` of the ancestor. */
function takeCluster(our: Side, their: Side, start: number) {
  const ourChanges: LineChange[] = [];
  const theirChanges: LineChange[] = [];
  let end = start;
  for (;;) {
    const ourNext = our.takeUpTo(end);
    const theirNext = their.takeUpTo(end);
    if (ourNext === undefined && theirNext === undefined) return { end, ourChanges, theirChanges };
    if (ourNext !== undefined) ourChanges.push(ourNext);
    if (theirNext !== undefined) theirChanges.push(theirNext);
    end = Math.max(end, endOf(ourNext), endOf(theirNext));
  }
}

const endOf = (change: LineChange | undefined): number => (change === undefined ? 0 : change.left + change.leftCount);

/**
 * Makes conflicts small: what both sides have in common inside of one is taken out of it, unless that would leave
 * conflicts so close together that one is easier to read. The places in the ancestor are lost by this.
 */
export function refineConflicts(regions: readonly MergeRegion[], ours: Lines, theirs: Lines): MergeRegion[] {
  const refined: MergeRegion[] = [];
  for (const region of regions.flatMap((one) => refine(one, ours, theirs))) {
    const last = refined.at(-1);
    const isJoined = last?.take === 'conflict' && region.take === 'conflict' && isNear(last, region, ours);
    if (last !== undefined && isJoined) refined[refined.length - 1] = span(last, region);
    else refined.push(region);
  }
  return refined;
}

/** Whether both sides made exactly one change here, and the same. */
function isSameChange(
  [our, ...moreOurs]: readonly LineChange[],
  [their, ...moreTheirs]: readonly LineChange[],
  ours: Lines,
  theirs: Lines,
): boolean {
  if (our === undefined || their === undefined || moreOurs.length > 0 || moreTheirs.length > 0) return false;
  if (our.left !== their.left || our.leftCount !== their.leftCount || our.rightCount !== their.rightCount) return false;
  for (let at = 0; at < our.rightCount; at += 1) {
    if (ours[our.right + at] !== theirs[their.right + at]) return false;
  }
  return true;
}

/** One conflict from the start of the first one to the end of the last one. */
function span(first: MergeRegion, last: MergeRegion): MergeRegion {
  return {
    take: 'conflict',
    base: first.base,
    baseCount: last.base + last.baseCount - first.base,
    ours: first.ours,
    oursCount: last.ours + last.oursCount - first.ours,
    theirs: first.theirs,
    theirsCount: last.theirs + last.theirsCount - first.theirs,
  };
}

/** The parts of a conflict in which the sides differ. */
function refine(region: MergeRegion, ours: Lines, theirs: Lines): MergeRegion[] {
  if (region.take !== 'conflict' || region.oursCount === 0 || region.theirsCount === 0) return [region];
  const changes = diffLines(
    ours.slice(region.ours, region.ours + region.oursCount),
    theirs.slice(region.theirs, region.theirs + region.theirsCount),
  );
  // Both came to the same in different ways.
  if (changes.length === 0) return [{ ...region, take: 'ours' }];
  return changes.map(({ left, leftCount, right, rightCount }) => ({
    take: 'conflict',
    base: region.base,
    baseCount: region.baseCount,
    ours: region.ours + left,
    oursCount: leftCount,
    theirs: region.theirs + right,
    theirsCount: rightCount,
  }));
}

/** Whether little enough stands between two conflicts: few lines, or none with a letter or a digit. */
function isNear(first: MergeRegion, second: MergeRegion, ours: Lines): boolean {
  const start = first.ours + first.oursCount;
  if (second.ours - start <= JOINING_LINES_MAX) return true;
  for (let at = start; at < second.ours; at += 1) if (/[0-9A-Za-z]/.test(ours[at] ?? '')) return false;
  return true;
}
