/** Owns when two names are one: file sync takes names that differ only in case or Unicode form for the same. */

/**
 * What is left when case and Unicode form do not count. Upper and lower once are not enough: the capital sharp s has no
 * other upper case, and its lower case has.
 */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}
