/** Escapes names and messages from other users, so that nothing in them acts on a terminal or hides text. Pure. */

/** Control and format characters (escape sequences, bidi), line separators, lone surrogates; no LF, no joiners. */
const ACTING = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;

/** Escapes each such character as `\u{…}`. */
function shown(text: string): string {
  return text.replace(ACTING, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Escapes output for a terminal or pipe, as `shown` does; tabs stay, for diffs and tables. */
export function printed(text: string): string {
  return text.split('\t').map(shown).join('\t');
}

/** A value as one line of JSON. Characters that act on a terminal are escaped as JSON escapes: `\u009b`. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(ACTING, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

/** Escapes a path, or another single line. */
export function shownLine(text: string): string {
  return shown(text).replaceAll('\n', '\\u{a}');
}

/** Quotes a path as one word of a shell. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${shownLine(path).replaceAll("'", String.raw`'\''`)}'`;
}

/** A time for display: local, to the second. */
export function shownTime(time: number | string): string {
  const date = new Date(time);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
