/** Divides a long text into parts that are shown one by one, at the ends of lines. Pure. */

export interface ShownPart {
  readonly text: string;
  /** Which part it is, and of how many; both count from 1. */
  readonly part: number;
  readonly parts: number;
  /** Its first and last line, numbered from 1 in the whole text. A line longer than a part is continued in the next. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** Which part is wanted: its number, or a line that it has. Out of range: the nearest. */
export type WantedPart = { readonly part: number } | { readonly line: number };

/** The wanted part of a text, of at most `charsMax` characters. */
export function textPart(text: string, wanted: WantedPart, charsMax: number): ShownPart {
  const starts = startsOf(text, charsMax);
  let at = 0;
  let firstLine = 1;
  for (;;) {
    const part = text.slice(starts[at], starts[at + 1]);
    const ends = lineEndsIn(part);
    // The end of a line at the end of the part does not begin another line in it.
    const lastLine = firstLine + ends - (ends > 0 && part.endsWith('\n') ? 1 : 0);
    const isLast = at === starts.length - 1;
    const isWanted = 'part' in wanted ? at + 1 >= wanted.part : lastLine >= wanted.line;
    if (isWanted || isLast) return { text: part, part: at + 1, parts: starts.length, firstLine, lastLine };
    firstLine += ends;
    at += 1;
  }
}

/** Where parts begin: after the last end of a line that fits, else inside the line, but not inside a character. */
function startsOf(text: string, charsMax: number): readonly number[] {
  const starts = [0];
  let from = 0;
  while (text.length - from > charsMax) {
    const newline = text.lastIndexOf('\n', from + charsMax - 1);
    const cut = newline < from ? from + charsMax : newline + 1;
    const isInside = newline < from && isHighSurrogate(text.charCodeAt(cut - 1));
    from = isInside && cut - 1 > from ? cut - 1 : cut;
    starts.push(from);
  }
  return starts;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function lineEndsIn(text: string): number {
  let found = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) found += 1;
  return found;
}
