/** Chooses the versions of the next pack, and finds the lines of earlier packs that they replace. Pure. */
import { limits } from '../../limits/service.ts';
import type { TailVersion } from './view-types.ts';

export interface Gathered {
  /** Ordered by sequence number. */
  readonly lines: readonly TailVersion[];
  /** Versions of earlier packs replaced by these lines, as sequence numbers. */
  readonly replaced: readonly number[];
  /** Sequence number of the last version looked at. */
  readonly last: number;
  /** True when there is enough for a full pack; otherwise packing can wait for more versions. */
  readonly full: boolean;
}

/** Gathers versions, from the first unpacked one on, until they fill a pack. Drops those replaced on the way. */
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
