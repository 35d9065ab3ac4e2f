/** Says why a search found nothing, and what to do next. Pure; the same words on the page, on the command line and for agents. */
import { countWithNoun } from './count.ts';

export interface EmptySearch {
  /** Of the wanted kinds. */
  readonly total: number;
  readonly counts: Readonly<Record<string, number | undefined>>;
  /** Words of the query that nothing has. */
  readonly missing: readonly string[];
  /** Words and phrases of the query that are left out. */
  readonly without: readonly string[];
  /** False: what is searched is still being indexed, or has too much text for a phrase. */
  readonly complete: boolean;
}

const EVERY_KIND = 'tasks, documents, files and names of backups';

/** What an incomplete answer means. */
export const MORE_LATER =
  'There may be more: your account is still being indexed, or a phrase has too much text to read. Search again in a moment, or with more words.';

/** What to do about a search that only leaves out. */
export const ONLY_LEFT_OUT = 'says only what to leave out; add a word to find, or quote what begins with a hyphen';

/** What a hyphen before a word left out; undefined: nothing. */
export function leftOutAdvice(without: readonly string[]): string | undefined {
  if (without.length === 0) return undefined;
  return `What has ${shownWords(without, 'or')} is left out, by the hyphen. To find it, put it in quotes.`;
}

function shownWords(words: readonly string[], between: string): string {
  return words.map((word) => (word.startsWith('"') ? word : `“${word}”`)).join(` ${between} `);
}

/** `kind`: the name of the only kind that was searched, in the plural; undefined: every kind was. */
export function emptyAdvice(
  query: string,
  { total, counts, missing, without, complete }: EmptySearch,
  kind: string | undefined,
): string {
  if (!/[\p{L}\p{N}]/u.test(query)) return 'A search needs a letter or a digit. Type a word, or its beginning.';
  // A page after the last one, or results that went a moment ago.
  if (total > 0) return `There are no more than ${countWithNoun(total, 'result')}. Search again from the first.`;
  if (!complete) return MORE_LATER;
  const searched = `${kind ?? EVERY_KIND} were searched`;
  const elsewhere = Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  if (kind !== undefined && elsewhere > 0)
    return `There is nothing among the ${kind}, but ${elsewhere} elsewhere: search every kind.`;
  if (missing.length > 0) {
    const isAll = query.trim().split(/\s+/).length <= missing.length;
    const next = isAll ? 'try other words' : `leave ${missing.length > 1 ? 'them' : 'it'} out`;
    return `Nothing has ${shownWords(missing, 'and')}: ${searched}. Check the spelling, or ${next}.`;
  }
  const leftOut = leftOutAdvice(without);
  if (leftOut !== undefined) return `Nothing else has all of the words: ${searched}. ${leftOut}`;
  return `Each word is found, but nothing has all of them: ${searched}. Leave one out, or put OR between them.`;
}
