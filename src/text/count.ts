/** Words counts for people. Pure. */

/** A count with its noun: `1 file`, `2,500 files`. */
export function countWithNoun(number: number, thing: string): string {
  return `${number.toLocaleString('en-US')} ${thing}${number === 1 ? '' : 's'}`;
}
