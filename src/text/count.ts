/** Words counts for people. Pure. */

/** A count with its noun: `1 file`, `2,500 files`. */
export function countWithNoun(number: number, thing: string): string {
  return `${grouped(number)} ${thing}${number === 1 ? '' : 's'}`;
}

/** A whole number in groups of three digits. The first `toLocaleString` of a process costs as much as its start. */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
