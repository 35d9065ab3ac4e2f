/**
 * Owns how a path is held against a glob: `*` and `?` within a part, `**` over whole parts. Case does not count. It takes
 * time in proportion to pattern times path at the most, whatever the pattern, which a regular expression made of it would
 * not, and counts what it did, so that whoever holds many paths against a glob can stop. Pure.
 */
import { foldCase } from '../../text/fold-case.ts';

/** A pattern that was taken apart. */
export interface Glob {
  readonly parts: readonly GlobPart[];
  /** A part without wildcards, which every path that matches holds; looked for first, because most paths do not. */
  readonly literal: string;
}

interface GlobPart {
  readonly text: string;
  /** `**` */
  readonly isAny: boolean;
  /** What stands between the stars; undefined where `?` does too, or characters of two code units. */
  readonly pieces: readonly string[] | undefined;
}

/** Characters that were compared, or could have been. */
export interface GlobWork {
  chars: number;
}

/** Takes a pattern apart. It holds in any folder, unless it begins with `/`. */
export function compileGlob(pattern: string): Glob {
  const folded = foldCase(pattern);
  // `**` twice in a row means what it means once.
  const named = folded.split(/\/+/).filter((part, at, all) => part !== '' && !(part === '**' && all[at - 1] === '**'));
  const literal = named.find((part) => !/[*?]/.test(part)) ?? '';
  return { parts: (folded.startsWith('/') ? named : ['**', ...named]).map(partOf), literal };
}

function partOf(text: string): GlobPart {
  const pieces = /[?\ud800-\udfff]/.test(text) ? undefined : text.split('*');
  return { text, isAny: text === '**', pieces };
}

/** True when the whole path, which must be folded, matches; `a/**` matches everything below `a`. Adds what it took to `work`. */
export function matchesGlob({ parts: glob, literal }: Glob, folded: string, work: GlobWork = { chars: 0 }): boolean {
  work.chars += folded.length;
  if (!folded.includes(literal)) return false;
  const parts = folded.split('/');
  return matchSequence(
    glob.length,
    parts.length,
    (g) => glob[g]?.isAny === true,
    (g, p) => matchPart(glob[g] as GlobPart, parts[p] ?? '', work),
    // `**` at the end stands for one part at the least.
    glob.at(-1)?.isAny === true && glob.length > 1,
  );
}

function matchPart({ text: pattern, pieces }: GlobPart, text: string, work: GlobWork): boolean {
  work.chars += pattern.length + text.length;
  if (pieces !== undefined) return matchPieces(pieces, text);
  const wanted = Array.from(pattern);
  const given = Array.from(text);
  work.chars += pattern.length * text.length;
  return matchSequence(
    wanted.length,
    given.length,
    (w) => wanted[w] === '*',
    (w, g) => wanted[w] === '?' || wanted[w] === given[g],
    false,
  );
}

/** The first piece begins the text, the last ends it, and each between them is found at the first place that is left. */
function matchPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last) || end < first.length) return false;
  let at = first.length;
  for (let index = 1; index < pieces.length - 1; index += 1) {
    const piece = pieces[index] ?? '';
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
    if (at > end) return false;
  }
  return true;
}

/** Greedy with one point to go back to, which is enough when the wildcards match independently of each other. */
function matchSequence(
  patternLength: number,
  textLength: number,
  isStar: (index: number) => boolean,
  matches: (patternIndex: number, textIndex: number) => boolean,
  lastStarTakesOne: boolean,
): boolean {
  let pattern = 0;
  let text = 0;
  let star = -1;
  let starText = 0;
  while (text < textLength) {
    if (pattern < patternLength && isStar(pattern)) {
      star = pattern;
      starText = text;
      pattern += 1;
    } else if (pattern < patternLength && matches(pattern, text)) {
      pattern += 1;
      text += 1;
    } else if (star >= 0) {
      starText += 1;
      text = starText;
      pattern = star + 1;
    } else return false;
  }
  if (lastStarTakesOne && pattern === patternLength - 1 && isStar(pattern)) return false;
  while (pattern < patternLength && isStar(pattern)) pattern += 1;
  return pattern === patternLength;
}
