/**
 * Stores one number, a moment, per caller in memory shared by threads: a hash table of fixed size whose cells are
 * written only by compare-and-set, so no thread waits for another. A caller can use one of a few slots; when all are
 * taken, the one with the oldest moment is replaced. When two threads add the same new caller at once, one call may be
 * lost.
 */
import { randomInt } from 'node:crypto';
import { limits } from '../../limits/service.ts';

const SLOT_BYTES = Int32Array.BYTES_PER_ELEMENT + BigInt64Array.BYTES_PER_ELEMENT;
/** Two random seeds of the callers' hashes: no outsider can choose who shares a slot with whom. */
const SEEDS = 2;
const HEAD_BYTES = BigInt64Array.BYTES_PER_ELEMENT;
const EMPTY = 0;

/** One value as a number and as bits for compare-and-set. */
const NUMBER = new Float64Array(1);
const BITS = new BigInt64Array(NUMBER.buffer);

export class Arrivals {
  /** The memory to pass to another thread that counts the same callers. */
  readonly shared: SharedArrayBuffer;
  readonly #seeds: Int32Array;
  readonly #callers: Int32Array;
  readonly #moments: BigInt64Array;

  constructor(shared?: SharedArrayBuffer) {
    const slots = limits.rateSlots;
    this.shared = shared ?? new SharedArrayBuffer(HEAD_BYTES + slots * SLOT_BYTES);
    this.#seeds = new Int32Array(this.shared, 0, SEEDS);
    this.#moments = new BigInt64Array(this.shared, HEAD_BYTES, slots);
    this.#callers = new Int32Array(this.shared, HEAD_BYTES + slots * BigInt64Array.BYTES_PER_ELEMENT, slots);
    if (shared === undefined) for (let at = 0; at < SEEDS; at += 1) this.#seeds[at] = randomInt(2 ** 31);
  }

  /**
   * Calls `next` with the moment of a caller (0: none) and stores the result, unless another thread was faster; then it
   * calls `next` again. Undefined leaves the moment unchanged.
   */
  change(caller: string, next: (moment: number) => number | undefined): void {
    const name = hash(caller, this.#seeds[0] ?? 0) | 1;
    const first = (hash(caller, this.#seeds[1] ?? 0) >>> 0) % (limits.rateSlots - limits.rateSlotsTried);
    for (;;) {
      const slot = this.#find(name, first) ?? this.#claim(name, first);
      if (slot === undefined) continue;
      const bits = Atomics.load(this.#moments, slot);
      const wanted = next(numberOf(bits));
      if (wanted === undefined) return;
      if (Atomics.compareExchange(this.#moments, slot, bits, bitsOf(wanted)) === bits) return;
    }
  }

  #find(name: number, first: number): number | undefined {
    for (let slot = first; slot < first + limits.rateSlotsTried; slot += 1) {
      if (Atomics.load(this.#callers, slot) === name) return slot;
    }
    return undefined;
  }

  /** Takes the slot with the oldest moment. Undefined when another thread took it first. */
  #claim(name: number, first: number): number | undefined {
    let oldest = first;
    let least = Number.POSITIVE_INFINITY;
    for (let slot = first; slot < first + limits.rateSlotsTried; slot += 1) {
      const moment = Atomics.load(this.#callers, slot) === EMPTY ? 0 : numberOf(Atomics.load(this.#moments, slot));
      if (moment >= least) continue;
      least = moment;
      oldest = slot;
    }
    const before = Atomics.load(this.#callers, oldest);
    if (Atomics.compareExchange(this.#callers, oldest, before, name) !== before) return undefined;
    Atomics.store(this.#moments, oldest, 0n);
    // If two threads each took a slot for this name, the first slot counts.
    return this.#find(name, first);
  }
}

function numberOf(bits: bigint): number {
  BITS[0] = bits;
  return NUMBER[0] ?? 0;
}

function bitsOf(number: number): bigint {
  NUMBER[0] = number;
  return BITS[0] ?? 0n;
}

/** FNV-1a (Fowler, Noll, Vo; 32 bits) from a seed, with the final mixing of MurmurHash3 (Appleby). */
function hash(text: string, seed: number): number {
  let mixed = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
