/** Owns what a line is: its text with the line feed that ends it, which the last line of a text may lack. */

/** The lines of a text, so that joining them gives the text back. An empty text has none. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  while (start < text.length) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** How many lines a text has; counting stops above `max`. */
export function countLines(text: string, max: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= max; count += 1) {
    const feed = text.indexOf('\n', at);
    at = feed < 0 ? text.length : feed + 1;
  }
  return count;
}

/** Two texts as numbers: equal lines have the same number, in either text. */
export interface NumberedLines {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** How many different lines there are; the numbers go from 0 to one below. */
  readonly distinct: number;
}

export function numberLines(left: readonly string[], right: readonly string[]): NumberedLines {
  const numbers = new Map<string, number>();
  const numberOf = (line: string): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  return { left: Int32Array.from(left, numberOf), right: Int32Array.from(right, numberOf), distinct: numbers.size };
}
