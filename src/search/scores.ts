/** Scores the documents of a segment that have the wanted words, and keeps the best of all. No object for each. Pure. */
import { IN_NAME, IN_TITLE, type WordSegment } from './segment.ts';

/** Words that stand for a wanted one in a segment, by their index, each with its weight. */
export type Stand = readonly (readonly [index: number, weight: number])[];

const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;
const NAME_WEIGHT = 6;
const TITLE_WEIGHT = 2;

/** Whether a thing needs every wanted word, or some of them. */
export type Needs = 'all' | 'some';

export interface WantedWords {
  /** Of each term. */
  readonly stands: readonly Stand[];
  readonly weights: readonly number[];
  /** Words of a document. */
  readonly averageLength: number;
  readonly needs: Needs;
}

/** BM25 (Robertson and Zaragoza 2009) of the documents that have the needed terms; 0 for the others. The rarest term first. */
export function scoresOf(segment: WordSegment, { stands, weights, averageLength, needs }: WantedWords): Float32Array {
  const documents = segment.lengths.length;
  const postings = stands.map((stand) => stand.reduce((sum, [index]) => sum + (segment.counts[index] ?? 0), 0));
  const order = [...stands.keys()].sort((a, b) => (postings[a] ?? 0) - (postings[b] ?? 0));
  const scores = new Float32Array(documents);
  const best = stands.length > 1 ? new Float32Array(documents) : scores;
  for (const [turn, term] of order.entries()) {
    const weight = weights[term] ?? 0;
    const into = turn === 0 ? scores : best;
    if (turn > 1) best.fill(0);
    for (const [index, share] of stands[term] ?? []) scoreWord(segment, index, averageLength, weight * share, into);
    if (turn > 0) (needs === 'all' ? addWhereBoth : addEach)(scores, best);
  }
  return scores;
}

/** A document without one of the two has none. */
function addWhereBoth(scores: Float32Array, more: Float32Array): void {
  for (let document = 0; document < scores.length; document += 1) {
    const [one, other] = [scores[document] ?? 0, more[document] ?? 0];
    scores[document] = one > 0 && other > 0 ? one + other : 0;
  }
}

function addEach(scores: Float32Array, more: Float32Array): void {
  for (let document = 0; document < scores.length; document += 1)
    scores[document] = (scores[document] ?? 0) + (more[document] ?? 0);
}

/** Raises the scores of the documents that have a word. This loop is where the time of a search goes. */
function scoreWord(
  { bytes, starts, lengths }: WordSegment,
  index: number,
  averageLength: number,
  share: number,
  scores: Float32Array,
): void {
  const whole = SATURATION * (1 - LENGTH_SHARE);
  const each = (SATURATION * LENGTH_SHARE) / averageLength;
  const most = share * (SATURATION + 1);
  const end = starts[index + 1] ?? 0;
  let document = 0;
  for (let at = starts[index] ?? 0; at < end; ) {
    let value = bytes[at++] ?? 0;
    if (value > 0x7f) {
      value &= 0x7f;
      for (let scale = 128; ; scale *= 128) {
        const byte = bytes[at++] ?? 0;
        value += (byte & 0x7f) * scale;
        if (byte <= 0x7f) break;
      }
    }
    document += value >> 1;
    const how = (value & 1) === 0 ? 1 << 2 : (bytes[at++] ?? 0);
    const times = how >> 2;
    let score = (most * times) / (times + whole + each * (lengths[document] ?? 0));
    if ((how & IN_NAME) !== 0) score += share * NAME_WEIGHT;
    if ((how & IN_TITLE) !== 0) score += share * TITLE_WEIGHT;
    if (score > (scores[document] ?? 0)) scores[document] = score;
  }
}

/** The highest scores of many, each with two numbers that say whose it is: a heap whose root is the least of them. */
export class HighestScores {
  readonly #scores: Float64Array;
  readonly #parts: Uint32Array;
  readonly #documents: Uint32Array;
  #size = 0;
  /** A score that is not higher is not among them. */
  least = 0;

  constructor(most: number) {
    this.#scores = new Float64Array(most);
    this.#parts = new Uint32Array(most);
    this.#documents = new Uint32Array(most);
  }

  /** Call it with scores above `least` only. */
  add(score: number, part: number, document: number): void {
    if (this.#size < this.#scores.length) {
      let at = this.#size;
      this.#size += 1;
      for (; at > 0; ) {
        const parent = (at - 1) >> 1;
        if ((this.#scores[parent] ?? 0) <= score) break;
        this.#move(parent, at);
        at = parent;
      }
      this.#set(at, score, part, document);
    } else {
      let at = 0;
      for (;;) {
        let child = 2 * at + 1;
        if (child >= this.#size) break;
        if (child + 1 < this.#size && (this.#scores[child + 1] ?? 0) < (this.#scores[child] ?? 0)) child += 1;
        if ((this.#scores[child] ?? 0) >= score) break;
        this.#move(child, at);
        at = child;
      }
      this.#set(at, score, part, document);
    }
    if (this.#size === this.#scores.length) this.least = this.#scores[0] ?? 0;
  }

  /** In no order. */
  *[Symbol.iterator](): Generator<{ readonly score: number; readonly part: number; readonly document: number }> {
    for (let at = 0; at < this.#size; at += 1) {
      const [score = 0, part = 0, document = 0] = [this.#scores[at], this.#parts[at], this.#documents[at]];
      yield { score, part, document };
    }
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#scores[from] ?? 0, this.#parts[from] ?? 0, this.#documents[from] ?? 0);
  }

  #set(at: number, score: number, part: number, document: number): void {
    this.#scores[at] = score;
    this.#parts[at] = part;
    this.#documents[at] = document;
  }
}
