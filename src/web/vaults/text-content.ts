/** Owns what of a file can be shown and edited as text, and how a text comes back from a form. Pure. */

/** The text of bytes that are UTF-8 without a NUL, which is what tells a binary file to git; undefined: they are none. */
export function textOf(bytes: Uint8Array): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8: there is no text to show.
    return undefined;
  }
  return text.includes('\0') ? undefined : text;
}

export type Newline = 'lf' | 'crlf';

/** How the lines of a text end: as the first one does. */
export function newlineOf(text: string): Newline {
  const at = text.indexOf('\n');
  return at > 0 && text[at - 1] === '\r' ? 'crlf' : 'lf';
}

/** A text from a form, which ends every line with CR LF whatever it was given, with the line ends that it had. */
export function fromForm(text: string, newline: Newline): string {
  const plain = text.replace(/\r\n?/g, '\n');
  return newline === 'crlf' ? plain.replaceAll('\n', '\r\n') : plain;
}

/** True while marks of an unsettled merge stand in a text, as `git` writes them. */
export function hasConflictMarks(text: string): boolean {
  return /^(<{7}|>{7}|={7})( |\r?$)/m.test(text) && /^<{7}/m.test(text) && /^>{7}/m.test(text);
}
