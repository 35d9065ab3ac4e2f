/**
 * Owns the search for a shortest edit script between two sequences: Myers, "An O(ND) Difference Algorithm and Its
 * Variations" (1986), section 4b: from both ends at once, in linear space. Where several scripts are equally short it
 * takes the one that git takes. A search that becomes too costly settles for a good split instead of the best one.
 */
/** Edits from either end after which a search settles for a good split instead of the best one. */
const COST_MAX = 256;

/** 1 stands for an element that the other sequence does not have at its place. */
export interface Marks {
  readonly left: Uint8Array;
  readonly right: Uint8Array;
}

/** A part of both sequences, the ends not included. */
interface Box {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
  /** It is known to hold a short script, so that its search is not cut short. */
  readonly isShort: boolean;
}

/** Where a box falls into two. */
interface Split {
  readonly left: number;
  readonly right: number;
  readonly firstIsShort: boolean;
  readonly secondIsShort: boolean;
}

/** Beyond what any path reaches, for the diagonals at the rim. */
const NOWHERE = 0x7fffffff;

/** Marks what is to be removed from `left` and added from `right`. */
export function markShortestScript(left: Int32Array, right: Int32Array): Marks {
  return new Search(left, right).run();
}

/** One search over one pair of sequences; the furthest points of both directions are kept by diagonal (left − right). */
class Search {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #marks: Marks;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  /** Where diagonal 0 stands in both. */
  readonly #zero: number;

  constructor(left: Int32Array, right: Int32Array) {
    this.#left = left;
    this.#right = right;
    this.#marks = { left: new Uint8Array(left.length), right: new Uint8Array(right.length) };
    this.#zero = right.length + 1;
    this.#forward = new Int32Array(left.length + right.length + 3);
    this.#backward = new Int32Array(left.length + right.length + 3);
  }

  run(): Marks {
    const open: Box[] = [
      { left: 0, leftEnd: this.#left.length, right: 0, rightEnd: this.#right.length, isShort: false },
    ];
    for (let box = open.pop(); box !== undefined; box = open.pop()) {
      const core = this.#shrink(box);
      if (core.left === core.leftEnd) this.#marks.right.fill(1, core.right, core.rightEnd);
      else if (core.right === core.rightEnd) this.#marks.left.fill(1, core.left, core.leftEnd);
      else {
        const split = this.#split(core);
        open.push({ ...core, leftEnd: split.left, rightEnd: split.right, isShort: split.firstIsShort });
        open.push({ ...core, left: split.left, right: split.right, isShort: split.secondIsShort });
      }
    }
    return this.#marks;
  }

  /** A box without the elements that are equal at its start and at its end. */
  #shrink(box: Box): Box {
    let { left, leftEnd, right, rightEnd } = box;
    while (left < leftEnd && right < rightEnd && this.#left[left] === this.#right[right]) {
      left += 1;
      right += 1;
    }
    while (left < leftEnd && right < rightEnd && this.#left[leftEnd - 1] === this.#right[rightEnd - 1]) {
      leftEnd -= 1;
      rightEnd -= 1;
    }
    return { left, leftEnd, right, rightEnd, isShort: box.isShort };
  }

  /** Finds a point of a shortest path through a box, or of a long common one when that costs too much. */
  #split(box: Box): Split {
    const lowest = box.left - box.rightEnd;
    const highest = box.leftEnd - box.right;
    const forward = new Reach(this.#forward, this.#zero, box.left - box.right, box.left, -1);
    const backward = new Reach(this.#backward, this.#zero, box.leftEnd - box.rightEnd, box.leftEnd, NOWHERE);
    const meetsForward = ((forward.low - backward.low) & 1) !== 0;
    for (let cost = 1; ; cost += 1) {
      forward.widen(lowest, highest);
      const met = this.#stepForward(box, forward, meetsForward ? backward : undefined);
      if (met !== undefined) return met;
      backward.widen(lowest, highest);
      const metBackward = this.#stepBackward(box, backward, meetsForward ? undefined : forward);
      if (metBackward !== undefined) return metBackward;
      if (cost >= COST_MAX && !box.isShort) return settle(box, forward, backward);
    }
  }

  /** Goes one edit further from the start, on every diagonal; gives where the paths from both ends met. */
  #stepForward(box: Box, own: Reach, other: Reach | undefined): Split | undefined {
    const { points } = own;
    const { leftEnd, rightEnd } = box;
    const [lefts, rights] = [this.#left, this.#right];
    for (let diagonal = own.high; diagonal >= own.low; diagonal -= 2) {
      const at = diagonal + this.#zero;
      const below = points[at - 1] ?? 0;
      const above = points[at + 1] ?? 0;
      let left = below >= above ? below + 1 : above;
      let right = left - diagonal;
      while (left < leftEnd && right < rightEnd && lefts[left] === rights[right]) {
        left += 1;
        right += 1;
      }
      points[at] = left;
      if (other?.has(diagonal) && (other.points[at] ?? 0) <= left) return meeting(left, right);
    }
    return undefined;
  }

  /** Goes one edit further from the end. */
  #stepBackward(box: Box, own: Reach, other: Reach | undefined): Split | undefined {
    const { points } = own;
    const [lefts, rights] = [this.#left, this.#right];
    for (let diagonal = own.high; diagonal >= own.low; diagonal -= 2) {
      const at = diagonal + this.#zero;
      const below = points[at - 1] ?? 0;
      const above = points[at + 1] ?? 0;
      let left = below < above ? below : above - 1;
      let right = left - diagonal;
      while (left > box.left && right > box.right && lefts[left - 1] === rights[right - 1]) {
        left -= 1;
        right -= 1;
      }
      points[at] = left;
      if (other?.has(diagonal) && left <= (other.points[at] ?? 0)) return meeting(left, right);
    }
    return undefined;
  }
}

/** How far the paths of one direction have come, on a range of diagonals of which every other is in use. */
class Reach {
  readonly points: Int32Array;
  readonly zero: number;
  low: number;
  high: number;
  readonly #outside: number;

  constructor(points: Int32Array, zero: number, diagonal: number, start: number, outside: number) {
    this.points = points;
    this.zero = zero;
    this.low = diagonal;
    this.high = diagonal;
    this.#outside = outside;
    points[diagonal + zero] = start;
  }

  has(diagonal: number): boolean {
    return this.low <= diagonal && diagonal <= this.high;
  }

  /** Takes in the next diagonals on both sides; at the rim of the box the range becomes narrower instead. */
  widen(lowest: number, highest: number): void {
    if (this.low > lowest) {
      this.low -= 1;
      this.points[this.low - 1 + this.zero] = this.#outside;
    } else this.low += 1;
    if (this.high < highest) {
      this.high += 1;
      this.points[this.high + 1 + this.zero] = this.#outside;
    } else this.high -= 1;
  }
}

function meeting(left: number, right: number): Split {
  return { left, right, firstIsShort: true, secondIsShort: true };
}

/** The point that either direction got furthest to; what lies between it and that direction's end is short. */
function settle(box: Box, forward: Reach, backward: Reach): Split {
  let [far, farLeft] = [-1, 0];
  for (let diagonal = forward.high; diagonal >= forward.low; diagonal -= 2) {
    const left = Math.min(forward.points[diagonal + forward.zero] ?? 0, box.leftEnd, box.rightEnd + diagonal);
    const sum = left + left - diagonal;
    if (sum > far) [far, farLeft] = [sum, left];
  }
  let [near, nearLeft] = [NOWHERE, 0];
  for (let diagonal = backward.high; diagonal >= backward.low; diagonal -= 2) {
    const left = Math.max(backward.points[diagonal + backward.zero] ?? 0, box.left, box.right + diagonal);
    const sum = left + left - diagonal;
    if (sum < near) [near, nearLeft] = [sum, left];
  }
  const fromStart = far - box.left - box.right;
  const fromEnd = box.leftEnd + box.rightEnd - near;
  return fromStart > fromEnd
    ? { left: farLeft, right: far - farLeft, firstIsShort: true, secondIsShort: false }
    : { left: nearLeft, right: near - nearLeft, firstIsShort: false, secondIsShort: true };
}
