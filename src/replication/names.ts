/** Names in the store of a log that are read again by what they say. */
const DIGITS = 16;

/** Positions as text that sorts by value. */
export const positionText = (position: number): string => String(position).padStart(DIGITS, '0');

/** Large values: `parts/TERM-RANDOM-NUMBER`, where TERM is the position by which their owner took over. */
export const PARTS = 'parts/';

/** The term in the name of a part; undefined: an earlier version named it, and the name has none. */
export function termOfPart(name: string): number | undefined {
  const [, digits] = /^parts\/(\d{16})-/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
