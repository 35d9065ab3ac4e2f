/**
 * Owns the three-way decision over lines: which parts of a merge come from which side, and where both changed the same
 * part in different ways (diff3; Khanna, Kunal, Pierce, "A Formal Investigation of Diff3", 2007). Changes that touch or
 * overlap are one region. Nothing here knows how a conflict is shown.
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
  const ourChanges = diffLines(base, ours);
  const theirChanges = diffLines(base, theirs);
  let [nextOurs, nextTheirs] = [0, 0];
  // How many lines each side has more than the ancestor, up to where the walk is.
  let [oursAhead, theirsAhead] = [0, 0];
  for (;;) {
    const our = ourChanges[nextOurs];
    const their = theirChanges[nextTheirs];
    if (our === undefined && their === undefined) return regions;
    if (our !== undefined && (their === undefined || endOf(our) < their.left)) {
      append(regions, { take: 'ours', ...placeOurs(our), theirs: our.left + theirsAhead, theirsCount: our.leftCount });
      oursAhead = endOfRight(our) - endOf(our);
      nextOurs += 1;
    } else if (their !== undefined && (our === undefined || endOf(their) < our.left)) {
      append(regions, {
        take: 'theirs',
        ...placeTheirs(their),
        ours: their.left + oursAhead,
        oursCount: their.leftCount,
      });
      theirsAhead = endOfRight(their) - endOf(their);
      nextTheirs += 1;
    } else if (our !== undefined && their !== undefined) {
      if (!isSameChange(our, their, ours, theirs)) append(regions, overlap(our, their));
      if (endOf(our) <= endOf(their)) {
        oursAhead = endOfRight(our) - endOf(our);
        nextOurs += 1;
      }
      if (endOf(their) <= endOf(our)) {
        theirsAhead = endOfRight(their) - endOf(their);
        nextTheirs += 1;
      }
    }
  }
}

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

const endOf = (change: LineChange): number => change.left + change.leftCount;
const endOfRight = (change: LineChange): number => change.right + change.rightCount;

function placeOurs({ left, leftCount, right, rightCount }: LineChange) {
  return { base: left, baseCount: leftCount, ours: right, oursCount: rightCount };
}

function placeTheirs({ left, leftCount, right, rightCount }: LineChange) {
  return { base: left, baseCount: leftCount, theirs: right, theirsCount: rightCount };
}

function isSameChange(our: LineChange, their: LineChange, ours: Lines, theirs: Lines): boolean {
  if (our.left !== their.left || our.leftCount !== their.leftCount || our.rightCount !== their.rightCount) return false;
  for (let at = 0; at < our.rightCount; at += 1) {
    if (ours[our.right + at] !== theirs[their.right + at]) return false;
  }
  return true;
}

/** The region of two changes that touch, each side with the lines around its change that the other one changed. */
function overlap(our: LineChange, their: LineChange): MergeRegion {
  const base = Math.min(our.left, their.left);
  const baseEnd = Math.max(endOf(our), endOf(their));
  const ours = our.right - (our.left - base);
  const theirs = their.right - (their.left - base);
  return {
    take: 'conflict',
    base,
    baseCount: baseEnd - base,
    ours,
    oursCount: endOfRight(our) + (baseEnd - endOf(our)) - ours,
    theirs,
    theirsCount: endOfRight(their) + (baseEnd - endOf(their)) - theirs,
  };
}

/** Adds a region; one that touches the last one becomes part of it, and a conflict unless both take the same side. */
function append(regions: MergeRegion[], region: MergeRegion): void {
  const last = regions.at(-1);
  const touches =
    last !== undefined &&
    (region.ours <= last.ours + last.oursCount || region.theirs <= last.theirs + last.theirsCount);
  if (touches) regions[regions.length - 1] = span(last, region);
  else regions.push(region);
}

/** From the start of one region to the end of a later one. */
function span(first: MergeRegion, last: MergeRegion): MergeRegion {
  return {
    take: first.take === last.take ? first.take : 'conflict',
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
