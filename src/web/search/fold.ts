/** Owns in which form texts are compared by a search, without regard to case, and which line of one is shown. Pure. */
import { limits } from '../../limits/service.ts';

export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** The line of a text that `wanted`, folded, is in, shortened; undefined: it is in none. */
export function lineWith(text: string | undefined, wanted: string): string | undefined {
  if (text === undefined || !foldText(text).includes(wanted)) return undefined;
  const line = text.split('\n').find((one) => foldText(one).includes(wanted)) ?? '';
  const at = Math.max(0, foldText(line).indexOf(wanted) - limits.searchLineChars / 4);
  const shown = line.slice(at, at + limits.searchLineChars).trim();
  return `${at > 0 ? '…' : ''}${shown}${at + limits.searchLineChars < line.length ? '…' : ''}`;
}
