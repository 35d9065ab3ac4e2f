/**
 * Cuts texts into the words that are searched: runs of letters and digits, folded. Chinese, Japanese and Korean have no
 * words of their own to cut at, so each two neighbouring characters of them are one. Pure.
 */
import { foldText } from '../text/fold-text.ts';

const RUNS = /[\p{L}\p{N}\p{M}]+/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
const PARTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;
/** Japanese particles between two words of another script. */
const PARTICLES =
  /(?<=[\p{Script=Han}\p{Script=Katakana}ー])[のをにはがでとへも](?=[\p{Script=Han}\p{Script=Katakana}ー])/gu;
/** A longer run is a key or a hash: its beginning finds it. */
export const WORD_CHARS_MAX = 40;

/** Latin letters that are no accented ones, as they are typed where no key has them. */
const TYPED_AS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/** One form for texts and queries: composed, compatible forms unified, lower case, without accents on Latin letters. */
export function foldWords(text: string): string {
  const folded = foldText(text);
  // Only a text beyond ASCII has accents; Hangul is composed again.
  return /[^\0-\x7f]/.test(folded)
    ? folded
        .normalize('NFD')
        .replace(/(?<=\p{Script=Latin})\p{M}+/gu, '')
        .replace(/[ßæœøłđðþı]/g, (letter) => TYPED_AS[letter] ?? letter)
        .normalize('NFC')
    : folded;
}

export function hasCjk(text: string): boolean {
  return CJK.test(text);
}

/** A single sign of Chinese, Japanese or Korean: texts have it within pairs. */
export function isSign(word: string): boolean {
  return hasCjk(word) && Array.from(word).length === 1;
}

/** The runs of letters and digits of a folded text; Chinese, Japanese and Korean apart from others. */
export function wordParts(folded: string): string[] {
  return [...folded.matchAll(RUNS)].flatMap(([run]) => (CJK.test(run) ? (run.match(PARTS) ?? []) : [run]));
}

/** Calls `found` with each word of a text, in order. */
export function eachWord(text: string, found: (word: string) => void): void {
  const folded = foldWords(text);
  if (!/[^\0-\x7f]/.test(folded)) {
    eachAsciiWord(folded, found);
    return;
  }
  for (const [run] of folded.matchAll(RUNS)) {
    if (!CJK.test(run)) {
      found(run.slice(0, WORD_CHARS_MAX));
      continue;
    }
    for (const [part] of run.matchAll(PARTS)) {
      if (CJK.test(part)) for (const pair of pairsOf(part)) found(pair);
      else found(part.slice(0, WORD_CHARS_MAX));
    }
  }
}

/** The words of a folded text without other letters, several times faster than by expressions. */
function eachAsciiWord(text: string, found: (word: string) => void): void {
  let from = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const isWord = (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
    if (isWord) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      found(text.slice(from, Math.min(at, from + WORD_CHARS_MAX)));
      from = -1;
    }
  }
}

/** The words of a run of Chinese, Japanese or Korean. */
export function pairsOf(part: string): string[] {
  const signs = Array.from(part);
  if (signs.length === 1) return signs;
  return signs.slice(1).map((sign, index) => `${signs[index]}${sign}`);
}

export interface WantedWord {
  /** As typed, folded: marked in snippets. */
  readonly shown: string;
  /** Words of the index that must all be there. */
  readonly words: readonly string[];
  readonly isCjk: boolean;
  /** From quotes: neither beginnings nor slips count. */
  readonly isExact?: true;
  /** Only a text tells whether it is there: the order of several words, or a single sign of Chinese. */
  readonly isOfText?: boolean;
}

/** The words of a query. */
export function wantedWords(query: string): WantedWord[] {
  const found: WantedWord[] = [];
  for (const part of wordParts(foldWords(query).replace(PARTICLES, ' '))) {
    if (found.some(({ shown }) => shown === part)) continue;
    const isCjk = hasCjk(part);
    found.push({ shown: part, words: isCjk ? pairsOf(part) : [part.slice(0, WORD_CHARS_MAX)], isCjk });
  }
  return found;
}

const COMMON = new Set(
  'a an and are as at be by do for from how i in is it my of on or our that the this to was we what when where which who why with'.split(
    ' ',
  ),
);

/** Without the words that every sentence has, unless nothing else is left. */
export function withoutCommon(wanted: readonly WantedWord[]): readonly WantedWord[] {
  const rest = wanted.filter(({ shown }) => !COMMON.has(shown));
  return rest.length > 0 ? rest : wanted;
}

/** Other forms of an English word: its singular, and what is left without `ing` or `ed`. */
export function otherForms(word: string): string[] {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return [];
  const forms: string[] = [];
  if (word.endsWith('ies')) forms.push(`${word.slice(0, -3)}y`);
  else if (word.endsWith('es')) forms.push(word.slice(0, -1), word.slice(0, -2));
  else if (word.endsWith('s') && !word.endsWith('ss')) forms.push(word.slice(0, -1));
  const [, stem] = /^([a-z]{3,})(?:ing|ed)$/.exec(word) ?? [];
  if (stem !== undefined) forms.push(stem, `${stem}e`, ...(/(.)\1$/.test(stem) ? [stem.slice(0, -1)] : []));
  return forms;
}

/** A bit for each letter of a word; others share bits. Words with more different letters than slips are not near. */
export function lettersOf(word: string): number {
  let bits = 0;
  for (let at = 0; at < word.length; at += 1) bits |= 1 << (word.charCodeAt(at) & 31);
  return bits >>> 0;
}

/** How many bits of a number are set. */
export function bitsIn(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** True when one word becomes the other by at most `most` letters added, left out, replaced, or two swapped. */
export function isNear(one: string, other: string, most: number): boolean {
  if (Math.abs(one.length - other.length) > most) return false;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= other.length; j += 1) {
      let edits = Math.min(
        (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1),
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
      );
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      next.push(edits);
      if (edits < least) least = edits;
    }
    if (least > most) return false;
    before = row;
    row = next;
  }
  return (row[other.length] ?? 0) <= most;
}
