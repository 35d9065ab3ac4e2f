/** Finds phrases in texts: their words one after the other, whatever stands between words. Pure. */
import type { Phrase } from './query.ts';
import { eachWord, isSign } from './words.ts';

/** A single sign in a phrase: texts have it within pairs. */
interface SignPlace {
  readonly sign: string;
  readonly bit: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/**
 * Returns what tells which of the phrases a text has. Each word of each phrase is a bit, set while the text has all words
 * up to it: a word of a text takes one step, however often the words of the phrases repeat.
 */
export function phraseFinder(phrases: readonly Phrase[]): (text: string) => boolean[] {
  const size = Math.ceil(phrases.flat().length / 32);
  const bitsOf = new Map<string, Uint32Array>();
  const first = new Uint32Array(size);
  const ends: number[] = [];
  const signs: SignPlace[] = [];
  let bit = 0;
  for (const phrase of phrases) {
    setBit(first, bit);
    for (const [at, word] of phrase.entries()) {
      const bits = bitsOf.get(word) ?? new Uint32Array(size);
      bitsOf.set(word, bits);
      setBit(bits, bit);
      if (isSign(word)) signs.push({ sign: word, bit, isFirst: at === 0, isLast: at === phrase.length - 1 });
      bit += 1;
    }
    ends.push(bit - 1);
  }
  const withSigns = (word: string): Uint32Array | undefined => {
    const within = signs.filter((place) => word !== place.sign && hasSign(word, place));
    if (within.length === 0) return bitsOf.get(word);
    const bits = Uint32Array.from(bitsOf.get(word) ?? new Uint32Array(size));
    for (const place of within) setBit(bits, place.bit);
    return bits;
  };
  return (text) => {
    const begun = new Uint32Array(size);
    const found = new Uint32Array(size);
    let isBegun = false;
    eachWord(text, (word) => {
      const bits = signs.length === 0 ? bitsOf.get(word) : withSigns(word);
      if (bits === undefined) {
        if (isBegun) begun.fill(0);
        isBegun = false;
        return;
      }
      isBegun = true;
      let carried = 0;
      for (let at = 0; at < size; at += 1) {
        const before = begun[at] ?? 0;
        const now = ((before << 1) | carried | (first[at] ?? 0)) & (bits[at] ?? 0);
        carried = before >>> 31;
        begun[at] = now;
        found[at] = (found[at] ?? 0) | now;
      }
    });
    return ends.map((end) => (((found[end >>> 5] ?? 0) >>> (end & 31)) & 1) === 1);
  };
}

/** True when a pair has the sign where the phrase goes on or ends: `v2 猫` is in `v2 猫が`, and not in `v2 小猫`. */
function hasSign(word: string, { sign, isFirst, isLast }: SignPlace): boolean {
  if (isFirst && isLast) return word.includes(sign);
  return (isFirst && word.endsWith(sign)) || (isLast && word.startsWith(sign));
}

function setBit(bits: Uint32Array, bit: number): void {
  bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
}
