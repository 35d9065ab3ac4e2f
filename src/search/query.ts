/** Reads a query: words, phrases in quotes, what is to be left out, and AND and OR. Pure. */
import { eachWord, hasCjk, isSign, type WantedWord, wantedWords } from './words.ts';

/** The words of a phrase, in order. */
export type Phrase = readonly string[];

export interface SearchTerms {
  /** Words and phrases. */
  readonly wanted: readonly WantedWord[];
  /** Phrases whose order only a text tells. */
  readonly phrases: readonly Phrase[];
  /** Words that no result has. */
  readonly without: readonly string[];
  /** Phrases that no result has. */
  readonly withoutPhrases: readonly Phrase[];
  /** One of the words and phrases is enough. */
  readonly isAny: boolean;
}

/** A phrase, perhaps to be left out; or what stands between blanks. */
const TOKENS = /((?<!\S)-)?"([^"]+)"|[^\s"]+|"/g;
/** To be left out. With two hyphens it is an option of a command. */
const LEFT_OUT = /^-(?=[\p{L}\p{N}])/u;

/** Reads a query. `isSentence`: a question in a sentence, whose hyphens and quotes mean nothing. */
export function readSearch(query: string, isSentence = false): SearchTerms {
  const tokens = isSentence ? [query] : [...query.replace(/[“”„]/g, '"').matchAll(TOKENS)];
  const words: string[] = [];
  const quoted: Phrase[] = [];
  const left: Phrase[] = [];
  let isAny = false;
  for (const [at, token] of tokens.entries()) {
    const [whole = '', minus, phrase] = typeof token === 'string' ? [token] : token;
    if (phrase !== undefined) (minus === undefined ? quoted : left).push(phraseOf(phrase));
    else if (!isSentence && LEFT_OUT.test(whole)) left.push(phraseOf(whole));
    else if (at > 0 && at < tokens.length - 1 && (whole === 'AND' || whole === 'OR')) isAny ||= whole === 'OR';
    else words.push(whole);
  }
  const wanted = quoted.filter((phrase) => phrase.length > 0).map(exactly);
  return {
    wanted: [...wanted, ...wantedWords(words.join(' '))],
    phrases: quoted.filter(needsText),
    without: left.filter((phrase) => !needsText(phrase)).flat(),
    withoutPhrases: left.filter(needsText),
    isAny,
  };
}

function needsText(phrase: Phrase): boolean {
  return phrase.length > 1 || phrase.some(isSign);
}

function phraseOf(text: string): Phrase {
  const words: string[] = [];
  eachWord(text, (word) => words.push(word));
  return words;
}

function exactly(words: Phrase): WantedWord {
  const isOfText = needsText(words);
  return { shown: shownPhrase(words), words: [...new Set(words)], isCjk: false, isExact: true, isOfText };
}

/** A phrase as it stands in a folded text: pairs of Chinese, Japanese and Korean overlap. */
function shownPhrase(words: Phrase): string {
  return words.reduce((text, word, at) => {
    const [last, [first = '', ...rest]] = [Array.from(words[at - 1] ?? ''), Array.from(word)];
    const isOverlap = hasCjk(word) && last.length === 2 && last[1] === first;
    return isOverlap ? text + rest.join('') : at === 0 ? word : `${text} ${word}`;
  }, '');
}

/** What is left out, as it is told: words, and phrases in quotes. */
export function leftOutOf({ without, withoutPhrases }: SearchTerms): string[] {
  return [...new Set([...without, ...withoutPhrases.map((phrase) => `"${shownPhrase(phrase)}"`)])];
}

/** True: it says only what to leave out. */
export function leavesOutOnly({ wanted, without, withoutPhrases }: SearchTerms): boolean {
  return wanted.length === 0 && without.length + withoutPhrases.length > 0;
}

/** What marks a wanted word in a folded text: of a phrase that is broken by a line or a sign, its words. */
export function marksOfWanted(folded: string, { shown, isCjk, isExact, words }: WantedWord): readonly string[] {
  if (isExact === true) return folded.includes(shown) ? [shown] : words;
  return [isCjk || shown.length < 6 ? shown : shown.replace(/(?:ies|es|s|ing|ed)$/, '')];
}
