/** Recognizes the name of a table in which one bit has flipped. Pure. */

/** The known name that differs from this one in one bit; undefined: none, or more than one. */
export function nameWithFlippedBit(name: string, known: Iterable<string>): string | undefined {
  const bytes = Buffer.from(name, 'latin1');
  const near = [...known].filter((other) => bitsBetween(bytes, Buffer.from(other, 'latin1')) === 1);
  return near.length === 1 ? near[0] : undefined;
}

/** The number of bits that differ; infinite for texts of different length. */
function bitsBetween(one: Buffer, other: Buffer): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  let bits = 0;
  for (const [at, byte] of one.entries()) {
    for (let difference = byte ^ (other[at] ?? 0); difference !== 0; difference &= difference - 1) bits += 1;
  }
  return bits;
}
