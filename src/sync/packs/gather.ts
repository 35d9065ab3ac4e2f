/** Owns which versions after the packs become the next pack, and which lines of earlier packs they took the place of. Pure. */
import { limits } from '../../limits/service.ts';
import type { TailVersion } from './view-types.ts';

export interface Gathered {
  /** In the order of their sequence numbers. */
  readonly lines: readonly TailVersion[];
  /** Versions of earlier packs that are no longer current. */
  readonly replaced: readonly number[];
  /** The last version that was looked at. */
  readonly last: number;
  /** There is enough for a pack; what is not may wait for more. */
  readonly full: boolean;
}

/** Looks at versions from the first that is not packed on, until they fill a pack. */
export function gather(tail: Iterable<TailVersion>, packedUpTo: number): Gathered {
  const lines = new Map<number, TailVersion>();
  const replaced: number[] = [];
  let [last, looked, bytes] = [packedUpTo, 0, 0];
  const done = (full: boolean): Gathered => ({ lines: [...lines.values()], replaced, last, full });
  for (const version of tail) {
    const added = version.long ? 0 : version.lineBytes;
    if (looked >= limits.packVersionsMax || bytes + added > limits.packBytesMax) return done(true);
    looked += 1;
    last = version.seq;
    bytes += added;
    const before = lines.get(version.previousSeq);
    if (before !== undefined) {
      lines.delete(before.seq);
      bytes -= before.long ? 0 : before.lineBytes;
    } else if (version.previousSeq > 0 && version.previousSeq <= packedUpTo) replaced.push(version.previousSeq);
    lines.set(version.seq, version);
  }
  return done(false);
}
