/**
 * Cuts a file into chunks by its content, so that an edit changes only the chunks that it touches: FastCDC with normalized
 * chunking, level 2 (W. Xia and others: The Design of Fast Content-Defined Chunking for Data Deduplication Based Storage
 * Systems. IEEE Transactions on Parallel and Distributed Systems 31(9), 2020, sections 4.2 to 4.4; first in USENIX ATC 2016).
 * Pure: the same bytes are cut at the same places on every device and in every version, however they arrive.
 */

export interface ChunkSizes {
  readonly min: number;
  /** A power of two. */
  readonly average: number;
  readonly max: number;
}

/** Bits that one mask has more, and the other fewer, than the average asks for: "normalization level 2" of the paper. */
const LEVEL = 2;
/** Never change these: other places to cut would send all large files of all vaults again. */
const GEAR_SEED = 0x63_61_69_72;
const GEAR = gearTable(GEAR_SEED);

/**
 * Finds the ends of chunks in bytes that arrive in parts. The hash is of 32 bits; a byte leaves it after 32 steps, so the
 * masks take its highest bits, which depend on all of them.
 */
export class ChunkCutter {
  readonly #sizes: ChunkSizes;
  readonly #maskBefore: number;
  readonly #maskAfter: number;
  #hash = 0;
  /** Bytes of the chunk that has begun. */
  #length = 0;

  constructor(sizes: ChunkSizes) {
    this.#sizes = sizes;
    const bits = Math.log2(sizes.average);
    this.#maskBefore = highBits(bits + LEVEL);
    this.#maskAfter = highBits(bits - LEVEL);
  }

  /** Returns the number of leading bytes of a part that end the chunk that has begun; undefined: it goes on after the part. */
  next(part: Uint8Array): number | undefined {
    const { min, average, max } = this.#sizes;
    const [before, after] = [this.#maskBefore, this.#maskAfter];
    // The bytes below the minimum cannot end a chunk, so they are not hashed ("cut-point skipping").
    const skipped = Math.min(part.length, Math.max(0, min - this.#length));
    let hash = this.#hash;
    let length = this.#length + skipped;
    for (let at = skipped; at < part.length; at += 1) {
      hash = ((hash << 1) + (GEAR[part[at] ?? 0] ?? 0)) | 0;
      length += 1;
      if ((hash & (length < average ? before : after)) !== 0 && length < max) continue;
      this.#hash = 0;
      this.#length = 0;
      return at + 1;
    }
    this.#hash = hash;
    this.#length = length;
    return undefined;
  }
}

/** The mask of the highest bits. */
function highBits(count: number): number {
  return -1 << (32 - count);
}

/** 256 random numbers of 32 bits from a seed, by SplitMix32 (after G. Steele and others, OOPSLA 2014). */
function gearTable(seed: number): Int32Array {
  let state = seed;
  return Int32Array.from({ length: 256 }, () => {
    state = (state + 0x9e37_79b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0_aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a_2d97);
    return mixed ^ (mixed >>> 15);
  });
}
