/** Says why a search found nothing, and what to do next. Pure; the same words on the page and on the command line. */

export interface EmptySearch {
  readonly counts: Readonly<Record<string, number | undefined>>;
  /** Words of the query that nothing has. */
  readonly missing: readonly string[];
  /** False: the account is still being indexed. */
  readonly complete: boolean;
}

/** `kind`: the name of the only kind that was searched, in the plural; undefined: every kind was. */
export function emptyAdvice({ counts, missing, complete }: EmptySearch, kind: string | undefined): string {
  if (!complete) return 'Your account is still being indexed. Search again in a moment.';
  const elsewhere = Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  if (kind !== undefined && elsewhere > 0)
    return `There is nothing among the ${kind}, but ${elsewhere} elsewhere: search every kind.`;
  const words = missing.map((word) => `“${word}”`).join(' and ');
  if (missing.length > 0)
    return `Nothing has ${words}. Check the spelling, or leave ${missing.length > 1 ? 'them' : 'it'} out.`;
  return 'Each word is found, but nothing has all of them. Leave one out.';
}
