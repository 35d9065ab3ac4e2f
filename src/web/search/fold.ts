/** Folds texts for a search that ignores case, and extracts the matching line. Pure. */
import { limits } from '../../limits/service.ts';

export function foldForSearch(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** The first line that contains `wanted`, which is folded; shortened. Undefined: no line contains it. */
export function lineWith(text: string | undefined, wanted: string): string | undefined {
  if (text === undefined || !foldForSearch(text).includes(wanted)) return undefined;
  const line = (text.split('\n').find((one) => foldForSearch(one).includes(wanted)) ?? '').normalize('NFC');
  const at = Math.max(0, placeIn(line, foldForSearch(line).indexOf(wanted)) - limits.searchLineChars / 4);
  const shown = line.slice(at, at + limits.searchLineChars).trim();
  return `${at > 0 ? '…' : ''}${shown}${at + limits.searchLineChars < line.length ? '…' : ''}`;
}

/** Maps a position in the folded form of a line to the position in the line. The two differ where a letter folds to several, such as `İ`. */
function placeIn(line: string, folded: number): number {
  let [place, length] = [0, 0];
  for (const sign of line) {
    if (length >= folded) break;
    length += sign.toLowerCase().length;
    place += sign.length;
  }
  return place;
}
