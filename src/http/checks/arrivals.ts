/**
 * Stores one number, a moment, per caller: a hash table of fixed size. A caller can use one of a few slots; when all
 * are taken, the one with the oldest moment is replaced.
 */
import { randomInt } from 'node:crypto';
import { limits } from '../../limits/service.ts';

const EMPTY = 0;

export class Arrivals {
  /** Random seeds of the callers' hashes: no outsider can choose who shares a slot with whom. */
  readonly #nameSeed = randomInt(2 ** 31);
  readonly #placeSeed = randomInt(2 ** 31);
  readonly #callers = new Int32Array(limits.rateSlots);
  readonly #moments = new Float64Array(limits.rateSlots);

  /** Calls `next` with the moment of a caller (0: none) and stores the result. Undefined leaves the moment unchanged. */
  change(caller: string, next: (moment: number) => number | undefined): void {
    const name = hash(caller, this.#nameSeed) | 1;
    const first = (hash(caller, this.#placeSeed) >>> 0) % (limits.rateSlots - limits.rateSlotsTried);
    const slot = this.#find(name, first) ?? this.#claim(name, first);
    const moment = next(this.#moments[slot] as number);
    if (moment !== undefined) this.#moments[slot] = moment;
  }

  #find(name: number, first: number): number | undefined {
    for (let slot = first; slot < first + limits.rateSlotsTried; slot += 1) {
      if (this.#callers[slot] === name) return slot;
    }
    return undefined;
  }

  /** Takes the slot with the oldest moment. */
  #claim(name: number, first: number): number {
    let oldest = first;
    let least = Number.POSITIVE_INFINITY;
    for (let slot = first; slot < first + limits.rateSlotsTried; slot += 1) {
      const moment = this.#callers[slot] === EMPTY ? 0 : (this.#moments[slot] as number);
      if (moment >= least) continue;
      least = moment;
      oldest = slot;
    }
    this.#callers[oldest] = name;
    this.#moments[oldest] = 0;
    return oldest;
  }
}

/** FNV-1a (Fowler, Noll, Vo; 32 bits) from a seed, with the final mixing of MurmurHash3 (Appleby). */
function hash(text: string, seed: number): number {
  let mixed = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
