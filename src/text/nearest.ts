/** Finds the name that was probably meant. */
import { foldCase } from './fold-case.ts';

/**
 * Returns the candidate with the fewest edits to `name`, ignoring case. Undefined when none is close enough to be a
 * typo.
 *
 * @param slack edits that a name of any length may have; a long one may have one in four characters
 */
export function nearest(name: string, candidates: readonly string[], slack = 2): string | undefined {
  const most = Math.max(slack, name.length / 4);
  const asked = name.toLowerCase();
  let best: string | undefined;
  let least = Math.floor(most) + 1;
  for (const candidate of candidates) {
    // As many edits at least as the lengths differ by.
    if (Math.abs(candidate.length - name.length) > most) continue;
    const edits = editDistance(asked, candidate.toLowerCase(), least - 1);
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best !== undefined && isTypo(name, best, least) ? best : undefined;
}

/** A name that was probably meant: by a typing error, or as a part of a longer one. */
export function nearestName(asked: string, names: readonly string[]): string | undefined {
  const folded = foldCase(asked);
  return (
    nearest(asked, names) ?? names.find((name) => foldCase(name).includes(folded) || folded.includes(foldCase(name)))
  );
}

/** False for short names of which little is left: `doen` is a typo of `done`, `path` is not one of `at`. */
function isTypo(name: string, candidate: string, edits: number): boolean {
  const half = Math.max(name.length, candidate.length) / 2;
  return edits < half || (edits === half && name[0]?.toLowerCase() === candidate[0]?.toLowerCase());
}

/** The row of the table that is being computed; names are short, and each call ends before the next. */
let row = new Uint32Array(128);

/**
 * Levenshtein distance (Wagner and Fischer 1974), one row at a time. Above `most` it is some number above `most`: the
 * smallest number of a row never falls in the next one (Ukkonen 1985).
 */
function editDistance(a: string, b: string, most: number): number {
  if (row.length <= b.length) row = new Uint32Array(b.length + 1);
  for (let column = 0; column <= b.length; column += 1) row[column] = column;
  for (let i = 1; i <= a.length; i += 1) {
    const letter = a.charCodeAt(i - 1);
    let diagonal = row[0] as number;
    let left = i;
    let least = i;
    row[0] = i;
    for (let j = 1; j <= b.length; j += 1) {
      const above = row[j] as number;
      const replaced = diagonal + (letter === b.charCodeAt(j - 1) ? 0 : 1);
      left = Math.min(replaced, above + 1, left + 1);
      row[j] = left;
      diagonal = above;
      if (left < least) least = left;
    }
    if (least > most) return least;
  }
  return row[b.length] as number;
}
