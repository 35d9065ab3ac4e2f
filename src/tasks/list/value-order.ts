/** Compares values in the order of the store's keys. Pure. */

/** Compares two values as the store orders them. */
export function compareValues(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return a === b ? 0 : compareCodePoints(String(a), String(b));
}

/** Compares by UTF-8 bytes, as the store does; JavaScript's order differs beyond the first plane. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates encode code points above all single UTF-16 units. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
