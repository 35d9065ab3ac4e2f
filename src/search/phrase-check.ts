/** Reads the texts of ranked things for phrases, as the index only knows which words they have. In slices of time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Thing } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import type { RankedThing } from './account-index.ts';
import { readableText, untilSliceEnds } from './kept-index.ts';
import { phraseFinder } from './phrase-finder.ts';
import type { SearchTerms } from './query.ts';
import type { Needs } from './scores.ts';

export interface PhraseCheck extends Pick<SearchTerms, 'phrases' | 'withoutPhrases'> {
  readonly needs: Needs;
  /** Characters that may be read. */
  readonly room: number;
  /** As many as are enough; undefined: all. */
  readonly most?: number;
  readonly open: (ranked: RankedThing) => Thing | undefined;
  /** Makes what was committed meanwhile visible to `open`. */
  readonly renew: () => void;
}

export interface ReadTexts {
  /** In their order. */
  readonly found: readonly RankedThing[];
  /** False: there was more text than may be read. */
  readonly isAll: boolean;
  /** Characters that were read. */
  readonly chars: number;
}

/** Keeps the things whose texts have what is wanted, until it has enough of them, or has read what it may. */
export async function checkPhrases(ranked: readonly RankedThing[], check: PhraseCheck): Promise<ReadTexts> {
  const passes = judgeOf(check);
  const found: RankedThing[] = [];
  let chars = 0;
  let isOver = untilSliceEnds();
  for (const one of ranked) {
    if (one.toCheck !== 0) {
      if (chars >= check.room) return { found, isAll: false, chars };
      if (isOver()) {
        await nextTurn();
        check.renew();
        isOver = untilSliceEnds();
      }
      const texts = textsOf(check.open(one));
      for (const text of texts) chars += text.length;
      if (!passes(texts, one.toCheck)) continue;
    }
    found.push(one);
    if (found.length === check.most) break;
  }
  return { found, isAll: true, chars };
}

/** What is indexed of a thing. */
function textsOf(thing: Thing | undefined): string[] {
  if (thing === undefined) return [];
  return [thing.title, thing.place, readableText(thing).slice(0, limits.searchIndexedChars)];
}

/** Returns what tells whether texts have what is wanted, and nothing that is to be left out. */
function judgeOf({ needs, phrases, withoutPhrases }: PhraseCheck) {
  const [wanted, unwanted] = [phraseFinder(phrases), phraseFinder(withoutPhrases)];
  const has = (texts: readonly string[], find: (text: string) => boolean[]) => {
    const each = texts.map(find);
    return (each[0] ?? []).map((_, which) => each.some((found) => found[which] === true));
  };
  return (texts: readonly string[], toCheck: RankedThing['toCheck']): boolean => {
    if (texts.length === 0) return false;
    if ((toCheck & 1) !== 0 && !has(texts, wanted)[needs === 'all' ? 'every' : 'some'](Boolean)) return false;
    return (toCheck & 2) === 0 || !has(texts, unwanted).some(Boolean);
  };
}
