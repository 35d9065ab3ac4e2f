/** Reads and writes the bit set of the dead lines of a pack: one bit per line. Pure. */

/** One bit per line of a pack, 1 for a dead line. Lines beyond the end of the array are alive. */
export type DeadBits = Uint8Array;

export function isDead(bits: DeadBits, line: number): boolean {
  return ((bits[line >> 3] ?? 0) & (1 << (line & 7))) !== 0;
}

export function countDead(bits: DeadBits | undefined): number {
  let count = 0;
  for (let byte of bits ?? []) for (; byte !== 0; byte &= byte - 1) count += 1;
  return count;
}

/** Returns a copy of the bits with these lines marked dead too. */
export function withDead(bits: DeadBits | undefined, lineCount: number, lines: readonly number[]): DeadBits {
  const next = new Uint8Array(Math.ceil(lineCount / 8));
  if (bits !== undefined) next.set(bits);
  for (const line of lines) next[line >> 3] = (next[line >> 3] ?? 0) | (1 << (line & 7));
  return next;
}
