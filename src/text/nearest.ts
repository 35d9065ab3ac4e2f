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
  const ranked = candidates
    // As many edits at least as the lengths differ by.
    .filter((candidate) => Math.abs(candidate.length - name.length) <= most)
    .map((candidate) => ({ candidate, edits: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  if (best === undefined || best.edits > most) return undefined;
  return isTypo(name, best.candidate, best.edits) ? best.candidate : undefined;
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

/** Levenshtein distance (Wagner and Fischer 1974), one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
