/**
 * Matches a path against a glob: `*` and `?` within a part, `**` over whole parts. Case-insensitive. Takes time at most
 * proportional to pattern length times path length, for any pattern, unlike a regular expression made from it. Counts
 * its work, so that a caller matching many paths can stop. Pure.
 */
import { foldCase } from '../../text/fold-case.ts';

/** A parsed pattern. */
export interface Glob {
  readonly parts: readonly GlobPart[];
  /**
   * A part without wildcards, contained in every matching path. Searched for first, because most paths do not contain
   * it.
   */
  readonly literal: string;
}

interface GlobPart {
  readonly text: string;
  /** `**` */
  readonly isAny: boolean;
  /** The text between the stars. Undefined when the part contains `?` or characters of two code units. */
  readonly pieces: readonly string[] | undefined;
}

/** Characters compared, as an upper bound. */
export interface GlobWork {
  chars: number;
}

/** Parses a pattern. It matches in any folder, unless it begins with `/`. */
export function compileGlob(pattern: string): Glob {
  const folded = foldCase(pattern);
  // Consecutive `**` mean the same as one.
  const named = folded.split(/\/+/).filter((part, at, all) => part !== '' && !(part === '**' && all[at - 1] === '**'));
  const literal = named.find((part) => !/[*?]/.test(part)) ?? '';
  return { parts: (folded.startsWith('/') ? named : ['**', ...named]).map(partOf), literal };
}

function partOf(text: string): GlobPart {
  const pieces = /[?\ud800-\udfff]/.test(text) ? undefined : text.split('*');
  return { text, isAny: text === '**', pieces };
}

/**
 * True when the whole path, which must be folded, matches; `a/**` matches everything below `a`. Adds its cost to
 * `work`.
 */
export function matchesGlob({ parts: glob, literal }: Glob, folded: string, work: GlobWork = { chars: 0 }): boolean {
  work.chars += folded.length;
  if (!folded.includes(literal)) return false;
  const parts = folded.split('/');
  return matchSequence(
    glob.length,
    parts.length,
    (g) => glob[g]?.isAny === true,
    (g, p) => matchPart(glob[g] as GlobPart, parts[p] ?? '', work),
    // `**` at the end matches at least one part.
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

/**
 * The text begins with the first piece and ends with the last. Each piece between is matched at its first possible
 * place.
 */
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

/** Greedy with one backtracking point, which is enough when the wildcards match independently of each other. */
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
