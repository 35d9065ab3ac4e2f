/** Reads the overlapping places of a merge out of its text with markers in the style of diff3. Pure. */

/** One place that both sides changed differently. */
export interface Overlap {
  /** The last line with text before the place; undefined: there is none. */
  readonly after: string | undefined;
  readonly mine: readonly string[];
  readonly base: readonly string[];
  readonly theirs: readonly string[];
}

/**
 * The places in their order. `mark` is the label of both outer markers; a label that no text contains keeps markers which
 * are part of a text apart from those of the merge.
 */
export function overlapsIn(text: string, mark: string): Overlap[] {
  const found: Overlap[] = [];
  let after: string | undefined;
  let open: Record<'mine' | 'base' | 'theirs', string[]> | undefined;
  let side: 'mine' | 'base' | 'theirs' = 'mine';
  for (const line of text.split(/\r?\n/)) {
    if (open === undefined) {
      if (line === `<<<<<<< ${mark}`) {
        open = { mine: [], base: [], theirs: [] };
        side = 'mine';
      } else if (line.trim() !== '') after = line;
    } else if (line === `>>>>>>> ${mark}`) {
      found.push({ after, ...open });
      after = open.theirs.findLast((one) => one.trim() !== '') ?? after;
      open = undefined;
    } else if (side === 'mine' && line === '||||||| base') side = 'base';
    else if (side === 'base' && line === '=======') side = 'theirs';
    else open[side].push(line);
  }
  return found;
}
