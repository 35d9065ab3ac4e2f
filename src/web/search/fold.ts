/** Folds texts for a search that ignores case, and extracts the matching line. Pure. */
import { limits } from '../../limits/service.ts';

export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** The first line that contains `wanted`, which is folded; shortened. Undefined: no line contains it. */
export function lineWith(text: string | undefined, wanted: string): string | undefined {
  if (text === undefined || !foldText(text).includes(wanted)) return undefined;
  const line = text.split('\n').find((one) => foldText(one).includes(wanted)) ?? '';
  const at = Math.max(0, foldText(line).indexOf(wanted) - limits.searchLineChars / 4);
  const shown = line.slice(at, at + limits.searchLineChars).trim();
  return `${at > 0 ? '…' : ''}${shown}${at + limits.searchLineChars < line.length ? '…' : ''}`;
}
