/** Decides what of a file can be shown and edited as text, and converts text from a form back. Pure. */

/** Decodes bytes that are UTF-8 without a NUL, the test used by git; undefined: the bytes are binary. */
export function textContentOf(bytes: Uint8Array): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8.
    return undefined;
  }
  return text.includes('\0') ? undefined : text;
}

export type Newline = 'lf' | 'crlf';

/** The line ends of a text, determined by its first line. */
export function newlineOf(text: string): Newline {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? 'crlf' : 'lf';
}

/** Restores the original line ends of a text from a form, which sends every line end as CR LF. */
export function fromForm(text: string, newline: Newline): string {
  const plain = text.replace(/\r\n?/g, '\n');
  return newline === 'crlf' ? plain.replaceAll('\n', '\r\n') : plain;
}

/** True while a text contains unresolved conflict markers in the style of `git`. */
export function hasConflictMarks(text: string): boolean {
  return /^(<{7}|>{7}|={7})( |\r?$)/m.test(text) && /^<{7}/m.test(text) && /^>{7}/m.test(text);
}
