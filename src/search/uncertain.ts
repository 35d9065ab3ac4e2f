/** What an index does not know of its documents: whether words stand one after the other. Pure. */
import { documentsHaving } from './containing.ts';
import type { Phrase } from './query.ts';
import type { Needs, Stand } from './scores.ts';
import { eachPosting, placeOfWord, type WordSegment } from './segment.ts';
import { isSign } from './words.ts';

/** What the text of a document has yet to show: 1: that it has the wanted phrases, 2: that it has none to leave out, 3: both. */
export type Uncertain = 0 | 1 | 2 | 3;

export interface UncertainAbout {
  readonly needs: Needs;
  readonly hasPhrases?: boolean;
  readonly withoutPhrases?: readonly Phrase[];
}

/** Takes the scores from documents that have a word to leave out. */
export function scoreWithout(segment: WordSegment, scores: Float32Array, without: readonly string[]): void {
  for (const word of without) {
    const at = placeOfWord(segment, word);
    if (segment.words[at] !== word) continue;
    eachPosting(segment, at, (document) => {
      scores[document] = 0;
    });
  }
}

/** What is uncertain of each document; undefined: nothing. `plain`: what stands for the words that need no text. */
export function uncertainOf(
  segment: WordSegment,
  { needs, hasPhrases = false, withoutPhrases = [] }: UncertainAbout,
  plain: () => Stand,
): Uint8Array | undefined {
  if (!hasPhrases && withoutPhrases.length === 0) return undefined;
  const uncertain = new Uint8Array(segment.lengths.length).fill(hasPhrases ? 1 : 0);
  // Where some of what is wanted is enough, a word needs no phrase beside it.
  if (needs === 'some')
    for (const [index] of plain())
      eachPosting(segment, index, (document) => {
        uncertain[document] = 0;
      });
  for (const phrase of withoutPhrases) {
    const needles = phrase.map((word) => ({ word, isWhole: !isSign(word) }));
    for (const document of documentsHaving(segment, needles)) uncertain[document] = (uncertain[document] ?? 0) | 2;
  }
  return uncertain;
}
