/** Reads the sequence numbers that a pull leaves out, from text such as `3-9,12`. Pure. */
import { invalidField } from '../../common/fault.ts';

const RANGE = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** Ascending ranges of sequence numbers that do not overlap. */
export class SeqRanges {
  readonly #firsts: number[] = [];
  readonly #lasts: number[] = [];

  readonly #more: readonly number[];

  /** Reads ascending ranges; no text: none. `more`: any single numbers. Throws Refusal `invalid_fields` (`skip`). */
  constructor(text: string | undefined, more: readonly number[] = []) {
    this.#more = more;
    for (const part of text === undefined || text === '' ? [] : text.split(',')) {
      const [, from = '', to = from] = RANGE.exec(part) ?? [];
      const [first, last] = [Number(from), Number(to)];
      if (from === '' || last < first || first <= (this.#lasts.at(-1) ?? 0)) {
        throw invalidField('skip', 'skip must be rising seq numbers or ranges of them, e.g. 3-9,12');
      }
      this.#firsts.push(first);
      this.#lasts.push(last);
    }
  }

  has(seq: number): boolean {
    return this.touches(seq, seq);
  }

  /** True when any number from `first` to `last` is to be left out. */
  touches(first: number, last: number): boolean {
    let [low, high] = [0, this.#firsts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#lasts[middle] ?? 0) < first) low = middle + 1;
      else high = middle;
    }
    if ((this.#firsts[low] ?? Number.POSITIVE_INFINITY) <= last) return true;
    return this.#more.some((seq) => seq >= first && seq <= last);
  }
}
