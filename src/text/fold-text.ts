/** Folds texts for comparison. Pure. */

/** A text in the form used for comparison: in lower case, compatible forms unified, accents composed. */
export function foldText(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize('NFKC').toLowerCase() : text.toLowerCase();
}
