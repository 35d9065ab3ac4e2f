/**
 * Owns one number a caller, a moment, in memory that threads share: a hash table of fixed size whose cells are written by
 * compare-and-swap alone, so that no thread waits for another. A caller may be in one of a few slots; where all are taken, the
 * one whose moment is furthest back makes room. Two threads that meet a new caller at once may lose the first call of one.
 */
import { randomInt } from 'node:crypto';
import { limits } from '../../limits/service.ts';

const SLOT_BYTES = Int32Array.BYTES_PER_ELEMENT + BigInt64Array.BYTES_PER_ELEMENT;
/** Two random numbers that a caller's hashes begin with: nobody outside can choose who shares a slot with whom. */
const SEEDS = 2;
const HEAD_BYTES = BigInt64Array.BYTES_PER_ELEMENT;
const EMPTY = 0;

/** The same bytes as a number and as what can be swapped. */
const NUMBER = new Float64Array(1);
const BITS = new BigInt64Array(NUMBER.buffer);

export class Arrivals {
  /** What another thread is given to count the same callers. */
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
   * Asks `next` for the moment that follows the one of a caller (0: none), and puts it there unless another thread was faster,
   * in which case it asks again. Undefined leaves the moment as it is.
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

  /** Takes the slot whose moment is furthest back. Undefined: another thread took one meanwhile. */
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
    // The first slot of a name counts, should two threads have taken one each.
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

/** FNV-1a (Fowler, Noll, Vo; 32 bits) from a seed, with the last mixing of MurmurHash3 (Appleby). */
function hash(text: string, seed: number): number {
  let mixed = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
