/** Owns the short texts that tools answer with beside their structured results. Pure. */
import { limits } from '../limits/service.ts';

/** `1 task`, `2 tasks`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A headline and as many items as a text takes, a line each. */
export function headed<T>(headline: string, items: readonly T[], describe: (item: T) => string): string {
  if (items.length === 0) return headline;
  const shown = items.slice(0, limits.toolTextLinesMax - 2);
  const rest = items.length - shown.length;
  return [`${headline}:`, ...shown.map(describe), ...(rest > 0 ? [`… and ${rest} more`] : [])].join('\n');
}

/** A text on one line of at most `charsMax` characters. */
export function oneLine(text: string, charsMax: number): string {
  const flat = text.trim().replace(/\s+/gu, ' ');
  // Half of a pair at the cut is dropped.
  return flat.length > charsMax ? `${flat.slice(0, charsMax - 1).replace(/\p{Cs}$/u, '')}…` : flat;
}

/** A headline and a content below it: whole when it is short, else its beginning and where the rest is. */
export function withContent(headline: string, content: string): string {
  if (content.length <= limits.documentTextCharsMax) return `${headline}\n\n${content}`;
  const beginning = content.slice(0, limits.documentTextCharsMax).replace(/\p{Cs}$/u, '');
  const rest = content.length - beginning.length;
  return `${headline}\n\n${beginning}\n\n… and ${rest} more characters; the structured result holds all of it`;
}
