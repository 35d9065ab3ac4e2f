/** Splits a text into lines. A line includes its line feed, which the last line of a text may lack. */

/** Returns the lines of a text. Joining them restores the text. An empty text has no lines. */
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

/** Returns the number of lines in a text. Counting stops above `max`. */
export function countLines(text: string, max: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= max; count += 1) {
    const feed = text.indexOf('\n', at);
    at = feed < 0 ? text.length : feed + 1;
  }
  return count;
}

/** Two texts as numbers. Equal lines have the same number in both texts. */
export interface NumberedLines {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** Number of distinct lines. Their numbers run from 0 to `distinct - 1`. */
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
