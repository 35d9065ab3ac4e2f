/**
 * Owns the revisions of tables: a number that changes with every commit that wrote to one, and another for the rows of each
 * owner in it (the first part of a key: an account or a vault). What was read of some tables is still exactly what is there as
 * long as their revision is the same. The numbers are in memory that threads share: the thread that commits writes them, all
 * read them.
 */
import { limits } from '../../limits/service.ts';
import type { AnyTable } from '../table.ts';
import type { WrittenRow } from './row-watch.ts';

/** The first cell counts all commits that are over. After it come two a place: commits so far, and commits under way. */
const OVER = 0;
const FIRST_PLACE = 1;
const CELLS = 2;

export class Revisions {
  /** What a thread that only reads is given. */
  readonly shared: SharedArrayBuffer;
  readonly #cells: Int32Array;
  /** Where the cells of a table are. */
  readonly #places = new Map<string, number>();
  readonly #firstOwned: number;

  /** `shared`: of the thread that commits, which has the same tables in the same order. */
  constructor(tables: readonly AnyTable[], shared?: SharedArrayBuffer) {
    for (const { name } of tables) {
      if (!this.#places.has(name)) this.#places.set(name, FIRST_PLACE + this.#places.size * CELLS);
    }
    this.#firstOwned = FIRST_PLACE + this.#places.size * CELLS;
    const cells = this.#firstOwned + limits.revisionsOwned * CELLS;
    this.shared = shared ?? new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT);
    this.#cells = new Int32Array(this.shared);
  }

  /** Commits that are over: each can be seen by whoever begins to read now. */
  get over(): number {
    return Atomics.load(this.#cells, OVER);
  }

  /**
   * The revision of some tables together; with `owner`, of that owner's rows of them. Undefined while a commit that wrote to
   * one of them is under way: it becomes visible at a moment that no thread is told, so that nothing can be said until it is
   * over. Owners share numbers by chance (one in `revisionsOwned`), which only makes a revision change more often.
   */
  of(tables: readonly AnyTable[], owner?: string): number | undefined {
    let sum = 0;
    for (const { name } of tables) {
      const place = owner === undefined ? this.#placeOf(name) : this.#ownedPlace(name, owner);
      // In this order: a commit is counted before it stops being under way.
      if (Atomics.load(this.#cells, place + 1) !== 0) return undefined;
      sum += Atomics.load(this.#cells, place);
    }
    return sum;
  }

  /** Must be called before what was written can be seen. Returns what to call when that is settled. */
  begin(rows: readonly WrittenRow[]): () => void {
    const places = new Set<number>();
    for (const { table, key } of rows) {
      places.add(this.#placeOf(table));
      const [owner] = key;
      if (typeof owner === 'string') places.add(this.#ownedPlace(table, owner));
    }
    for (const place of places) Atomics.add(this.#cells, place + 1, 1);
    return () => {
      // First of all: who sees a new count must see that there is something newer to read.
      Atomics.add(this.#cells, OVER, 1);
      for (const place of places) {
        Atomics.add(this.#cells, place, 1);
        Atomics.sub(this.#cells, place + 1, 1);
      }
    };
  }

  #placeOf(table: string): number {
    const place = this.#places.get(table);
    if (place === undefined) throw new Error(`table ${table} has no revision`);
    return place;
  }

  #ownedPlace(table: string, owner: string): number {
    return this.#firstOwned + (fnv1a(owner, this.#placeOf(table)) % limits.revisionsOwned) * CELLS;
  }
}

/** FNV-1a (Fowler, Noll, Vo; 32 bits), begun with a number of one's own. */
function fnv1a(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  // The lowest bits of short texts are alike; the upper ones are not.
  return (hash ^ (hash >>> 15)) >>> 0;
}
