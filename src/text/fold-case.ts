/** Decides when two names are the same: file sync ignores case, Unicode form and joiners. */

/** Most names; folding them is changing their case. */
const ASCII = /^[\x20-\x7e]*$/;
/** Zero-width characters, which some disks ignore in names. */
const JOINERS = /[\u200c\u200d]/g;

/**
 * Returns the text without differences of case, Unicode form and joiners. Converting to upper and lower case once is
 * not enough: the capital sharp s has no other upper case, but its lower case has one.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.replace(JOINERS, '').normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}
