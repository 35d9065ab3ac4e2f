/**
 * Counts revisions of tables: a number that changes with every commit to a table, and another one per owner (the first
 * part of a key: an account or a vault) in a table. Data read from some tables is current while their revision stays
 * the same. The numbers are in shared memory: the committing thread writes them, all threads read them.
 */
import { limits } from '../../limits/service.ts';
import type { AnyTable } from '../table.ts';
import type { WrittenRow } from './row-watch.ts';

/** The first cell counts all finished commits. Then two cells per place: commits so far, and commits in progress. */
const OVER = 0;
const FIRST_PLACE = 1;
const CELLS = 2;

export class Revisions {
  /** The memory shared with threads that only read. */
  readonly shared: SharedArrayBuffer;
  readonly #cells: Int32Array;
  /** Index of the cells of a table. */
  readonly #places = new Map<string, number>();
  readonly #firstOwned: number;

  /** `shared`: from the committing thread, which must have the same tables in the same order. */
  constructor(tables: readonly AnyTable[], shared?: SharedArrayBuffer) {
    for (const { name } of tables) {
      if (!this.#places.has(name)) this.#places.set(name, FIRST_PLACE + this.#places.size * CELLS);
    }
    this.#firstOwned = FIRST_PLACE + this.#places.size * CELLS;
    const cells = this.#firstOwned + limits.revisionsOwned * CELLS;
    this.shared = shared ?? new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT);
    this.#cells = new Int32Array(this.shared);
  }

  /** Number of finished commits, all visible to a read started now. */
  get over(): number {
    return Atomics.load(this.#cells, OVER);
  }

  /**
   * The combined revision of some tables; with `owner`, of that owner's rows in them. Undefined while a commit to one
   * of them is in progress: the moment it becomes visible is unknown until it is over. Two owners share a number with
   * probability 1 / `revisionsOwned`, which only makes a revision change more often.
   */
  of(tables: readonly AnyTable[], owner?: string): number | undefined {
    const ownerHash = owner === undefined ? undefined : fnv1a(owner);
    let sum = 0;
    for (const { name } of tables) {
      const place = ownerHash === undefined ? this.#placeOf(name) : this.#ownedPlace(name, ownerHash);
      // In this order: a commit is counted before it stops being in progress.
      if (Atomics.load(this.#cells, place + 1) !== 0) return undefined;
      sum += Atomics.load(this.#cells, place);
    }
    return sum;
  }

  /** The revision that reads renewed after `over` finished commits belong to. Undefined when another has finished since. */
  asOf(over: number, tables: readonly AnyTable[], owner?: string): number | undefined {
    // In this order: a commit that finishes in between has a new revision, which the reads do not include.
    const revision = this.of(tables, owner);
    return this.over === over ? revision : undefined;
  }

  /** Call before the written rows become visible. Returns a function to call when the commit is over. */
  begin(rows: readonly WrittenRow[]): () => void {
    const places = new Set<number>();
    for (const { table, key } of rows) {
      places.add(this.#placeOf(table));
      const [owner] = key;
      if (typeof owner === 'string') places.add(this.#ownedPlace(table, fnv1a(owner)));
    }
    for (const place of places) Atomics.add(this.#cells, place + 1, 1);
    return () => {
      // First: a thread that sees a new revision must also see that it has to renew its reads.
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

  #ownedPlace(table: string, ownerHash: number): number {
    const hash = Math.imul(ownerHash ^ this.#placeOf(table), FNV_PRIME);
    // The low bits of short texts are similar; mix in the high ones.
    return this.#firstOwned + (((hash ^ (hash >>> 15)) >>> 0) % limits.revisionsOwned) * CELLS;
  }
}

const FNV_PRIME = 0x01000193;

/** FNV-1a (Fowler, Noll, Vo; 32 bits). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash;
}
