/**
 * Decides for each part of a three-way merge which side it comes from, and where both sides changed the same part
 * differently (diff3; Khanna, Kunal, Pierce, "A Formal Investigation of Diff3", 2007). When changes count as touching,
 * and which conflicts are split or joined, is measured behaviour of `git merge-file`.
 */
import { diffLines, type LineChange } from './line-diff.ts';

/**
 * A part of the merge that differs from the ancestor. Lines between two regions are the same in `ours` and in the
 * merge.
 */
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

/** Conflicts separated by at most this many common lines are joined. */
const JOINING_LINES_MAX = 3;

/** Returns the regions of a merge, in order. Each conflict is as large as its changes to the ancestor. */
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

/** Changes of one side, read from the top. */
class Side {
  readonly #changes: readonly LineChange[];
  #next = 0;
  /** Number of lines by which the changes read so far made this side longer than the ancestor. */
  growth = 0;

  constructor(changes: readonly LineChange[]) {
    this.#changes = changes;
  }

  /** Start of the next change in the ancestor. Infinity after the last change. */
  get nextStart(): number {
    return this.#changes[this.#next]?.left ?? Infinity;
  }

  /** Reads and returns the next change if it starts at or before `line` of the ancestor. */
  takeUpTo(line: number): LineChange | undefined {
    const change = this.#changes[this.#next];
    if (change === undefined || change.left > line) return undefined;
    this.#next += 1;
    this.growth += change.rightCount - change.leftCount;
    return change;
  }
}

/**
 * Reads every change that touches or overlaps the change at `start`, directly or through others. `end` is the end in
 * the ancestor.
 */
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
 * Makes conflicts small. Lines common to both sides are moved out of a conflict, unless the remaining conflicts would
 * be so close that a single one is easier to read. Positions in the ancestor are lost.
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

/** True when each side made exactly one change here and both changes are equal. */
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

/** Joins two conflicts into one, from the start of the first to the end of the last. */
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

/** Splits a conflict into the parts in which the sides differ. */
function refine(region: MergeRegion, ours: Lines, theirs: Lines): MergeRegion[] {
  if (region.take !== 'conflict' || region.oursCount === 0 || region.theirsCount === 0) return [region];
  const changes = diffLines(
    ours.slice(region.ours, region.ours + region.oursCount),
    theirs.slice(region.theirs, region.theirs + region.theirsCount),
  );
  // Both sides reached the same lines by different changes.
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

/** True when little separates two conflicts: few lines, or lines without a letter or digit. */
function isNear(first: MergeRegion, second: MergeRegion, ours: Lines): boolean {
  const start = first.ours + first.oursCount;
  if (second.ours - start <= JOINING_LINES_MAX) return true;
  for (let at = start; at < second.ours; at += 1) if (/[0-9A-Za-z]/.test(ours[at] ?? '')) return false;
  return true;
}
