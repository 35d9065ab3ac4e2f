/** Finds the lines of a text that show best why it was found. Pure. */
import { limits } from '../limits/service.ts';
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
  const needles = wanted.map(({ shown, isCjk }) =>
    isCjk || shown.length < 6 ? shown : shown.replace(/(?:ies|es|s|ing|ed)$/, ''),
  );
  const best: { line: number; words: number; text: string }[] = [];
  let line = 0;
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf('\n', from);
    const one = text.slice(from, end < 0 ? text.length : end);
    line += 1;
    from = end < 0 ? text.length + 1 : end + 1;
    const folded = foldWords(one);
    const words = needles.filter((needle) => folded.includes(needle)).length;
    if (words === 0) continue;
    best.push({ line, words, text: one });
    if (best.length > limits.searchSnippets * 4) {
      best.sort((a, b) => b.words - a.words || a.line - b.line);
      best.length = limits.searchSnippets;
    }
  }
  best.sort((a, b) => b.words - a.words || a.line - b.line);
  const shown = best.slice(0, limits.searchSnippets).sort((a, b) => a.line - b.line);
  return {
    lines: shown.map((one) => snippetOf(one.line, one.text, needles)),
    together: (best[0]?.words ?? 0) / Math.max(1, needles.length),
  };
}

function snippetOf(line: number, text: string, needles: readonly string[]): Snippet {
  const whole = text.normalize('NFC').trim();
  const lower = foldInPlace(whole);
  const first = Math.max(
    0,
    Math.min(...needles.map((needle) => lower.indexOf(needle)).filter((at) => at >= 0), whole.length),
  );
  const from =
    whole.length <= limits.searchLineChars || first === whole.length
      ? 0
      : Math.max(0, first - limits.searchLineChars / 4);
  const shown = `${from > 0 ? '…' : ''}${whole.slice(from, from + limits.searchLineChars)}`;
  return { line, text: shown, marks: marksOf(shown, needles) };
}

function marksOf(text: string, needles: readonly string[]): (readonly [number, number])[] {
  const lower = foldInPlace(text);
  const marks: [number, number][] = [];
  for (const needle of needles)
    for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, at + needle.length))
      marks.push([
        at,
        at + needle.length + (/^\p{Script=Latin}*/u.exec(text.slice(at + needle.length))?.[0].length ?? 0),
      ]);
  return marks.sort((a, b) => a[0] - b[0]).filter(([from], index) => from >= (marks[index - 1]?.[1] ?? 0));
}

/** Folds sign by sign, but for those that become longer or shorter, so that places stay those of the text. */
function foldInPlace(text: string): string {
  return Array.from(text, (sign) => {
    const folded = foldWords(sign);
    return folded.length === sign.length ? folded : sign;
  }).join('');
}
