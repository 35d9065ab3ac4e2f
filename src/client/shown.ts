/** Owns how names and messages of others are shown: nothing in them acts on a terminal or hides what it is. Pure. */

/** Control and format characters (escape sequences, bidi), line separators, halves of pairs; not a line feed, not joiners. */
const ACTING = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;

/** The text with each such character as `\u{…}`. */
export function shown(text: string): string {
  return text.replace(ACTING, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A path, or another single line. */
export function shownLine(text: string): string {
  return shown(text).replaceAll('\n', '\\u{a}');
}

/** A path as a shell reads it as one word. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${shownLine(path).replaceAll("'", String.raw`'\''`)}'`;
}

/** A number of things, in words: `1 file`, `2,500 files`. */
export function counted(number: number, thing: string): string {
  return `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`;
}
