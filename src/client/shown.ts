/** Owns how names and messages of others are shown: nothing in them acts on a terminal or hides what it is. Pure. */

/** Control and format characters (escape sequences, bidi), line separators, halves of pairs; not a line feed, not joiners. */
const ACTING = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;

/** The text with each such character as `\u{…}`. */
function shown(text: string): string {
  return text.replace(ACTING, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Output for a terminal or a pipe, as `shown` has it; tabs stay, for diffs and tables. */
export function printed(text: string): string {
  return text.split('\t').map(shown).join('\t');
}

/** A value as one line of JSON, in which characters that act on a terminal are escaped as JSON has it: `\u009b`. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(ACTING, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
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
