/** Owns which lines of a pack are dead: one bit per line. Pure. */

/** One bit per line of a pack; shorter than the pack where the rest is alive. */
export type DeadBits = Uint8Array;

export function isDead(bits: DeadBits, line: number): boolean {
  return ((bits[line >> 3] ?? 0) & (1 << (line & 7))) !== 0;
}

export function countDead(bits: DeadBits | undefined): number {
  let count = 0;
  for (let byte of bits ?? []) for (; byte !== 0; byte &= byte - 1) count += 1;
  return count;
}

/** The bits with these lines dead as well. */
export function withDead(bits: DeadBits | undefined, lineCount: number, lines: readonly number[]): DeadBits {
  const next = new Uint8Array(Math.ceil(lineCount / 8));
  if (bits !== undefined) next.set(bits);
  for (const line of lines) next[line >> 3] = (next[line >> 3] ?? 0) | (1 << (line & 7));
  return next;
}
