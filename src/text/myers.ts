/**
 * Finds a longest common subsequence of two sequences in linear space: Eugene W. Myers, "An O(ND) Difference Algorithm
 * and Its Variations", Algorithmica 1 (1986), section 4b. Paths with a growing number of edits advance from both
 * corners until they meet; the meeting point divides the problem in two. The choice among several meeting points, and
 * when a costly search stops early, are measured behaviour of `git merge-file`.
 */

/**
 * After this many edits from either corner, the search divides at the furthest point instead of the best one. Measured:
 * `git merge-file` does the same as long as both texts together have fewer than 65,536 lines.
 */
const EDITS_MAX = 256;

/** Indexes of equal elements, ascending: `left[i]` in one sequence matches `right[i]` in the other. */
export interface Matches {
  readonly left: Int32Array;
  readonly right: Int32Array;
}

/** Returns the common subsequence of two sequences. Time is at most O((n + m) · EDITS_MAX), memory O(n + m). */
export function matchSequences(left: Int32Array, right: Int32Array): Matches {
  return new Matcher(left, right).run();
}

class Matcher {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #forward: Frontier;
  readonly #reverse: Frontier;
  readonly #found: Matches;
  #count = 0;

  constructor(left: Int32Array, right: Int32Array) {
    this.#left = left;
    this.#right = right;
    this.#forward = new Frontier(left, right, 'highest');
    this.#reverse = new Frontier(left.toReversed(), right.toReversed(), 'lowest');
    const matchesMax = Math.min(left.length, right.length);
    this.#found = { left: new Int32Array(matchesMax), right: new Int32Array(matchesMax) };
  }

  run(): Matches {
    this.#match(0, this.#left.length, 0, this.#right.length);
    const { left, right } = this.#found;
    return { left: left.subarray(0, this.#count), right: right.subarray(0, this.#count) };
  }

  /** Matches two parts: first their common head and tail, then the rest by halves. */
  #match(leftStart: number, leftEnd: number, rightStart: number, rightEnd: number): void {
    const sizeMin = Math.min(leftEnd - leftStart, rightEnd - rightStart);
    let head = 0;
    while (head < sizeMin && this.#left[leftStart + head] === this.#right[rightStart + head]) head += 1;
    let tail = 0;
    while (tail < sizeMin - head && this.#left[leftEnd - 1 - tail] === this.#right[rightEnd - 1 - tail]) tail += 1;
    this.#keep(leftStart, rightStart, head);
    if (head + tail < sizeMin) {
      const [x, y] = [leftStart + head, rightStart + head];
      const [xEnd, yEnd] = [leftEnd - tail, rightEnd - tail];
      const middle = this.#divide(x, xEnd, y, yEnd);
      this.#match(x, middle.left, y, middle.right);
      this.#match(middle.left, xEnd, middle.right, yEnd);
    }
    this.#keep(leftEnd - tail, rightEnd - tail, tail);
  }

  #keep(left: number, right: number, length: number): void {
    for (let at = 0; at < length; at += 1) {
      this.#found.left[this.#count] = left + at;
      this.#found.right[this.#count] = right + at;
      this.#count += 1;
    }
  }

  /** Returns a point on a path with the fewest edits, or on a good path when the exact search costs too much. */
  #divide(leftStart: number, leftEnd: number, rightStart: number, rightEnd: number): Point {
    const [width, height] = [leftEnd - leftStart, rightEnd - rightStart];
    const forward = this.#forward.enter(leftStart, rightStart, width, height);
    const [leftAfter, rightAfter] = [this.#left.length - leftEnd, this.#right.length - rightEnd];
    const reverse = this.#reverse.enter(leftAfter, rightAfter, width, height);
    const isOdd = ((width - height) & 1) === 1;
    const fromStart = ({ x, y }: Step): Point => ({ left: leftStart + x, right: rightStart + y });
    const fromEnd = ({ x, y }: Step): Point => ({ left: leftEnd - x, right: rightEnd - y });
    for (let edits = 1; ; edits += 1) {
      const met = forward.advance(edits, isOdd ? reverse : undefined);
      if (met !== undefined) return fromStart(met);
      const metInReverse = reverse.advance(edits, isOdd ? undefined : forward);
      if (metInReverse !== undefined) return fromEnd(metInReverse);
      if (edits < EDITS_MAX) continue;
      const [far, farInReverse] = [forward.furthest(), reverse.furthest()];
      return far.x + far.y > farInReverse.x + farInReverse.y ? fromStart(far) : fromEnd(farInReverse);
    }
  }
}

/** Indexes into both sequences. */
interface Point {
  readonly left: number;
  readonly right: number;
}

/** Number of elements before a point in each sequence. */
interface Step {
  readonly x: number;
  readonly y: number;
}

/** Less than any position that a path reaches. */
const UNREACHED = -1;

/**
 * How far paths reach from the start of a part, by diagonal k = x − y (V in the paper). The search from the end is a
 * search from the start of the reversed sequences.
 */
class Frontier {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  /** Which of several equally good diagonals is used. */
  readonly #preferred: 'highest' | 'lowest';
  readonly #reach: Int32Array;
  /** Index of diagonal 0 in `#reach`. */
  readonly #zero: number;
  #leftStart = 0;
  #rightStart = 0;
  #width = 0;
  #height = 0;
  #lowest = 0;
  #highest = 0;

  constructor(left: Int32Array, right: Int32Array, preferred: 'highest' | 'lowest') {
    this.#left = left;
    this.#right = right;
    this.#preferred = preferred;
    this.#reach = new Int32Array(left.length + right.length + 3);
    this.#zero = right.length + 1;
  }

  /** Restarts at the start of a part. The first elements of the part differ. */
  enter(leftStart: number, rightStart: number, width: number, height: number): this {
    this.#leftStart = leftStart;
    this.#rightStart = rightStart;
    this.#width = width;
    this.#height = height;
    this.#lowest = 0;
    this.#highest = 0;
    this.#reach[this.#zero] = 0;
    return this;
  }

  /** Advances one edit on every diagonal. Returns the point where a path met the other frontier, or undefined. */
  advance(edits: number, other: Frontier | undefined): Step | undefined {
    this.#widen(edits);
    const [left, right, reach] = [this.#left, this.#right, this.#reach];
    const [leftStart, rightStart, width, height] = [this.#leftStart, this.#rightStart, this.#width, this.#height];
    const [zero, highest, lowest] = [this.#zero, this.#highest, this.#lowest];
    const [first, stride] = this.#preferred === 'highest' ? [highest, -2] : [lowest, 2];
    for (let k = first; lowest <= k && k <= highest; k += stride) {
      let x = Math.max((reach[zero + k - 1] ?? 0) + 1, reach[zero + k + 1] ?? 0);
      let y = x - k;
      while (x < width && y < height && left[leftStart + x] === right[rightStart + y]) {
        x += 1;
        y += 1;
      }
      reach[zero + k] = x;
      if (other?.hasReached(width - height - k, width - x)) return { x, y };
    }
    return undefined;
  }

  hasReached(k: number, x: number): boolean {
    return this.#lowest <= k && k <= this.#highest && (this.#reach[this.#zero + k] ?? 0) >= x;
  }

  /** Returns the reached point with the most elements before it. */
  furthest(): Step {
    let best: Step = { x: UNREACHED, y: UNREACHED };
    for (let k = this.#lowest; k <= this.#highest; k += 2) {
      const x = Math.min(this.#reach[this.#zero + k] ?? 0, this.#width, this.#height + k);
      const ahead = 2 * x - k - best.x - best.y;
      if (ahead > 0 || (ahead === 0 && this.#preferred === 'highest')) best = { x, y: x - k };
    }
    return best;
  }

  /** Selects every other diagonal from −edits to edits, within the bounds of the part. */
  #widen(edits: number): void {
    const [width, height] = [this.#width, this.#height];
    this.#lowest = edits <= height ? -edits : -height + ((edits - height) & 1);
    this.#highest = edits <= width ? edits : width - ((edits - width) & 1);
    if (edits <= height) this.#reach[this.#zero - edits - 1] = UNREACHED;
    if (edits <= width) this.#reach[this.#zero + edits + 1] = UNREACHED;
  }
}
