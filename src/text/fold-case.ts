/** Owns when two names are one: file sync takes names that differ only in case, Unicode form or joiners for the same. */

/** They have no width, and some disks ignore them in names. */
const JOINERS = /[\u200c\u200d]/g;

/**
 * What is left when case, Unicode form and joiners do not count. Upper and lower once are not enough: the capital sharp s has no
 * other upper case, and its lower case has.
 */
export function foldCase(text: string): string {
  return text.replace(JOINERS, '').normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}
