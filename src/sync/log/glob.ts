/**
 * Owns how a path is held against a glob: `*` and `?` within a part, `**` over whole parts. Case does not count. It takes
 * time in proportion to pattern times path, whatever the pattern, which a regular expression made of it would not. Pure.
 */
import { foldCase } from '../../text/fold-case.ts';

/** A pattern that was taken apart. */
export interface Glob {
  readonly parts: readonly string[];
  /** A part without wildcards, which every path that matches holds; looked for first, because most paths do not. */
  readonly literal: string;
}

/** Takes a pattern apart. It holds in any folder, unless it begins with `/`. */
export function compileGlob(pattern: string): Glob {
  const folded = foldCase(pattern);
  // `**` twice in a row means what it means once.
  const named = folded.split(/\/+/).filter((part, at, all) => part !== '' && !(part === '**' && all[at - 1] === '**'));
  const literal = named.find((part) => !/[*?]/.test(part)) ?? '';
  return { parts: folded.startsWith('/') ? named : ['**', ...named], literal };
}

/** True when the whole path, which must be folded, matches; `a/**` matches everything below `a`. */
export function matchesGlob({ parts, literal }: Glob, folded: string): boolean {
  return folded.includes(literal) && matchParts(parts, folded.split('/'));
}

/** Greedy with one point to go back to, which is enough when the wildcards match independently of each other. */
function matchParts(glob: readonly string[], parts: readonly string[]): boolean {
  return matchSequence(
    glob.length,
    parts.length,
    (g) => glob[g] === '**',
    (g, p) => matchPart(glob[g] ?? '', parts[p] ?? ''),
    // `**` at the end stands for one part at the least.
    glob.at(-1) === '**' && glob.length > 1,
  );
}

function matchPart(pattern: string, text: string): boolean {
  const wanted = Array.from(pattern);
  const given = Array.from(text);
  return matchSequence(
    wanted.length,
    given.length,
    (w) => wanted[w] === '*',
    (w, g) => wanted[w] === '?' || wanted[w] === given[g],
    false,
  );
}

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
