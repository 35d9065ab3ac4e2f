/** Turns what a hub lists into words to offer. Pure. */
import { shownLine } from '../../client/shown.ts';

export interface Offer {
  readonly value: string;
  /** What it is, for a person who chooses among ids. */
  readonly note?: string;
}

const NOTE_CHARS_MAX = 60;

/** Offers of rows. A value that is no line of plain text cannot be typed: it is left out. Each value once. */
export function offersOf<T>(
  rows: readonly T[],
  toValue: (row: T) => string,
  toNote?: (row: T) => string,
): readonly Offer[] {
  const found = new Map<string, Offer>();
  for (const row of rows) {
    const value = toValue(row);
    if (value === '' || shownLine(value) !== value || found.has(value)) continue;
    const note = toNote === undefined ? '' : shownLine(toNote(row).replaceAll(/\s+/g, ' ').trim());
    found.set(value, note === '' ? { value } : { value, note: Array.from(note).slice(0, NOTE_CHARS_MAX).join('') });
  }
  return [...found.values()];
}

/** The part of a typed path that is a folder, with its slash. */
export const folderOfPath = (typed: string): string => typed.slice(0, typed.lastIndexOf('/') + 1);

/** What is directly in a folder, given with its slash: files, and folders that end with a slash. */
export function stepsOf(paths: readonly string[], folder: string): readonly Offer[] {
  return offersOf(paths, (path) => {
    const end = path.indexOf('/', folder.length);
    return end === -1 ? path : path.slice(0, end + 1);
  });
}

/** The lines that the scripts of the shells read: whether values are paths, then each value with its note. */
export function offerLines(offers: readonly Offer[], arePaths: boolean): string {
  const lines = offers.map(({ value, note }) => (note === undefined ? value : `${value}\t${note}`));
  return [arePaths ? 'paths' : 'words', ...lines].join('\n');
}
