/** Finds the lines of a text that show best why it was found. Pure. */
import { limits } from '../limits/service.ts';
import { marksOfWanted } from './query.ts';
import { foldWords, type WantedWord } from './words.ts';

export interface Snippet {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  /** Beginnings and ends of the wanted words in `text`. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

export interface Snippets {
  readonly lines: readonly Snippet[];
  /** Share of the wanted words that the best line has. */
  readonly together: number;
}

/** The lines with the most wanted words, in order of the text. A word is found by its beginning, or by all but its end. */
export function snippetsOf(text: string, wanted: readonly WantedWord[]): Snippets {
  const best: { line: number; words: number }[] = [];
  // Folding keeps the ends of lines. Where each needle comes next is looked up once, so most lines cost one comparison.
  const folded = foldWords(text);
  const needles = wanted.flatMap((one) => marksOfWanted(folded, one));
  const next = needles.map((needle) => placeIn(folded, needle, 0));
  let line = 0;
  for (let from = 0; from <= folded.length; ) {
    if (next.every((at) => at === folded.length)) break;
    const found = folded.indexOf('\n', from);
    const end = found < 0 ? folded.length : found;
    line += 1;
    let words = 0;
    for (const [index, at] of next.entries()) {
      if (at >= end) continue;
      words += 1;
      next[index] = placeIn(folded, needles[index] ?? '', end);
    }
    from = end + 1;
    if (words === 0) continue;
    best.push({ line, words });
    if (best.length > limits.searchSnippets * 4) {
      best.sort((a, b) => b.words - a.words || a.line - b.line);
      best.length = limits.searchSnippets;
    }
  }
  best.sort((a, b) => b.words - a.words || a.line - b.line);
  const shown = best.slice(0, limits.searchSnippets).sort((a, b) => a.line - b.line);
  const lines = shown.map((one) => snippetOf(one.line, lineOf(text, one.line), needles));
  return {
    lines: [...lines, ...belowHeading(text, lines, needles)].sort((a, b) => a.line - b.line),
    together: (best[0]?.words ?? 0) / Math.max(1, needles.length),
  };
}

/** What stands below the first heading that is shown: a heading names what is wanted, and does not say it. */
function belowHeading(text: string, lines: readonly Snippet[], needles: readonly string[]): Snippet[] {
  const heading = lines.find((one) => /^#{1,6}\s/.test(one.text));
  if (heading === undefined) return [];
  const rest = text.split('\n', heading.line + BLANK_LINES_MAX).slice(heading.line);
  const offset = rest.findIndex((one) => one.trim() !== '');
  const line = heading.line + 1 + offset;
  const isNew = offset >= 0 && !/^#{1,6}\s/.test(rest[offset] ?? '') && lines.every((one) => one.line !== line);
  return isNew ? [snippetOf(line, rest[offset] ?? '', needles)] : [];
}

const BLANK_LINES_MAX = 4;

/** Where a word comes next; the length of the text when it does not. */
function placeIn(text: string, word: string, from: number): number {
  const at = text.indexOf(word, from);
  return at < 0 ? text.length : at;
}

function lineOf(text: string, line: number): string {
  let from = 0;
  for (let before = 1; before < line; before += 1) from = text.indexOf('\n', from) + 1;
  const end = text.indexOf('\n', from);
  return text.slice(from, end < 0 ? text.length : end);
}

function snippetOf(line: number, text: string, needles: readonly string[]): Snippet {
  const whole = text.normalize('NFC').trim();
  const first = whole.length <= limits.searchLineChars ? 0 : firstPlace(whole, needles);
  const from = Math.max(0, first - limits.searchLineChars / 4);
  const shown = `${from > 0 ? '…' : ''}${whole.slice(from, from + limits.searchLineChars)}`;
  return { line, text: shown, marks: marksOf(shown, needles) };
}

/** Characters of a line that are folded at once: one line may be megabytes of data, and sign by sign takes long. */
const PIECE_CHARS = 4096;

/** Where a needle comes first in a line; 0: none does. */
function firstPlace(line: string, needles: readonly string[]): number {
  const isIn = (folded: string) => needles.some((needle) => folded.includes(needle));
  const overlap = 2 * Math.max(0, ...needles.map((needle) => needle.length));
  for (let from = 0; from < line.length; from += PIECE_CHARS) {
    const piece = line.slice(from, from + PIECE_CHARS + overlap);
    if (!isIn(foldWords(piece))) continue;
    const { folded, from: places } = foldWithPlaces(piece);
    const found = needles.map((needle) => folded.indexOf(needle)).filter((at) => at >= 0);
    if (found.length > 0) return from + (places[Math.min(...found)] ?? 0);
  }
  return 0;
}

function marksOf(text: string, needles: readonly string[]): (readonly [number, number])[] {
  const { folded, from, to } = foldWithPlaces(text);
  const marks: [number, number][] = [];
  for (const needle of needles)
    for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length)) {
      const end = to[at + needle.length - 1] ?? text.length;
      marks.push([from[at] ?? 0, end + (/^\p{Script=Latin}*/u.exec(text.slice(end))?.[0].length ?? 0)]);
    }
  return marks.sort((a, b) => a[0] - b[0]).filter(([start], index) => start >= (marks[index - 1]?.[1] ?? 0));
}

/** Folds sign by sign; of each character of the folded text, where its sign begins and ends in the text. */
function foldWithPlaces(text: string) {
  const [from, to]: [number[], number[]] = [[], []];
  let folded = '';
  let at = 0;
  for (const sign of text) {
    const one = foldWords(sign);
    for (let each = 0; each < one.length; each += 1) {
      from.push(at);
      to.push(at + sign.length);
    }
    folded += one;
    at += sign.length;
  }
  return { folded, from, to };
}
