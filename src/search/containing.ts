/**
 * Rules out documents that cannot contain a text: each whole word of the text must be one of theirs, and its first and last
 * word a part of one. What is left may contain it, and is read. Pure.
 */
import { eachPosting, placeOfWord, type WordSegment } from './segment.ts';
import { foldWords, hasCjk, pairsOf, WORD_CHARS_MAX, wordParts } from './words.ts';

export interface Needle {
  readonly word: string;
  /** False: it may be a part of a longer word. */
  readonly isWhole: boolean;
}

/** A shorter part is in too many words, unless it is all there is beyond ASCII. */
const PART_CHARS_MIN = 3;

/** What a document needs that contains a text; none: any document may contain it. */
export function needlesOf(text: string): Needle[] {
  // A mark belongs to the letter before it, which the text leaves open.
  const parts = wordParts(foldWords(text).replace(/^\p{M}+/u, ''));
  return parts.flatMap((part, at) => {
    if (hasCjk(part)) {
      const pairs = pairsOf(part);
      return pairs.map((word) => ({ word, isWhole: word !== part || Array.from(part).length > 1 }));
    }
    const isWhole = at > 0 && at < parts.length - 1;
    const isShort = part.length < (/[^\0-\x7f]/.test(part) ? 2 : PART_CHARS_MIN);
    return isWhole || !isShort ? [{ word: part.slice(0, WORD_CHARS_MAX), isWhole }] : [];
  });
}

/** The documents of a segment that have every needle, by their numbers. */
export function documentsHaving(segment: WordSegment, needles: readonly Needle[]): number[] {
  const had = new Uint16Array(segment.lengths.length);
  for (const [turn, needle] of needles.entries()) {
    for (const index of wordsWith(segment, needle)) {
      eachPosting(segment, index, (document) => {
        if (had[document] === turn) had[document] = turn + 1;
      });
    }
  }
  return Array.from(had.keys()).filter((document) => had[document] === needles.length);
}

/** Indexes of the words that a needle is, or is a part of. A word that was cut off may have any part. */
function* wordsWith(segment: WordSegment, { word, isWhole }: Needle): Generator<number> {
  const { words } = segment;
  if (isWhole) {
    const at = placeOfWord(segment, word);
    if (words[at] === word) yield at;
    return;
  }
  for (const [at, one] of words.entries()) if (one.length === WORD_CHARS_MAX || one.includes(word)) yield at;
}
