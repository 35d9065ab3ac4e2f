/**
 * Rules out documents that cannot contain a text: each whole word of the text must be one of theirs, and its first and last
 * word a part of one. What is left may contain it, and is read. Pure.
 */
import { THING_KINDS, type ThingKindName } from '../ids/thing.ts';
import { groupTest, type Part } from './part.ts';
import { eachPosting, placeOfWord, type WordSegment, wordHints } from './segment.ts';
import { foldWords, hasCjk, lettersOf, pairsOf, WORD_CHARS_MAX, wordParts } from './words.ts';

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

export interface HavingQuery {
  readonly kind: ThingKindName;
  readonly needles: readonly Needle[];
  /** Only things of this group. */
  readonly group?: string | undefined;
  /** Only numbers below this one. */
  readonly before: number;
  /** At most so many. */
  readonly most: number;
}

/** Keys of things. */
export interface Having {
  readonly numbers: Float64Array;
  /** False: there are more, with lower numbers. */
  readonly isAll: boolean;
}

/** The things of some parts that have every needle, the highest number first. */
export function newestHaving(parts: readonly Part[], { kind, needles, group, before, most }: HavingQuery): Having {
  const wanted = THING_KINDS.indexOf(kind);
  const found = new Float64Array(parts.reduce((sum, { held: { entries } }) => sum + entries.length, 0));
  let [count, isSorted] = [0, true];
  for (const part of parts) {
    const { segment, kinds, held } = part;
    const documents = documentsHaving(segment, needles);
    if (documents.length === 0) continue;
    const isOfGroup = group === undefined ? undefined : groupTest(part, group);
    part.numbers ??= Float64Array.from(held.entries, ({ key }) => Number(key));
    for (const document of documents) {
      if (kinds[document] !== wanted || held.isGone[document] === 1) continue;
      if (isOfGroup?.(document) === false) continue;
      const number = part.numbers[document] ?? before;
      if (number >= before) continue;
      isSorted &&= count === 0 || number > (found[count - 1] ?? 0);
      found[count] = number;
      count += 1;
    }
  }
  const all = found.subarray(0, count);
  if (!isSorted) all.sort();
  return { numbers: all.slice(Math.max(0, count - most)).reverse(), isAll: count <= most };
}

/** The documents of a segment that have every needle, by their numbers. */
export function documentsHaving(segment: WordSegment, needles: readonly Needle[]): number[] {
  // The rarest first: what nothing has ends the search before the words of every text are read.
  const wanted = needles
    .map((needle) => Array.from(wordsWith(segment, needle)))
    .map((indexes) => ({ indexes, count: indexes.reduce((sum, index) => sum + (segment.counts[index] ?? 0), 0) }))
    .sort((one, other) => one.count - other.count);
  const had = new Uint16Array(segment.lengths.length);
  for (const [turn, { indexes }] of wanted.entries()) {
    let found = 0;
    for (const index of indexes) {
      eachPosting(segment, index, (document) => {
        if (had[document] !== turn) return;
        had[document] = turn + 1;
        found += 1;
      });
    }
    if (found === 0) return [];
  }
  const documents: number[] = [];
  for (let document = 0; document < had.length; document += 1)
    if (had[document] === needles.length) documents.push(document);
  return documents;
}

/** Indexes of the words that a needle is, or is a part of. A word that was cut off may have any part. */
function* wordsWith(segment: WordSegment, { word, isWhole }: Needle): Generator<number> {
  const { words } = segment;
  if (isWhole) {
    const at = placeOfWord(segment, word);
    if (words[at] === word) yield at;
    return;
  }
  const { letters, cut } = wordHints(segment);
  yield* cut;
  const wanted = lettersOf(word);
  for (let at = 0; at < letters.length; at += 1) {
    if ((wanted & ~(letters[at] ?? 0)) !== 0) continue;
    const one = words[at] ?? '';
    if (one.length < WORD_CHARS_MAX && one.includes(word)) yield at;
  }
}
