/**
 * Counts revisions of tables: a number that changes with every commit to a table, and another one per owner (the first
 * part of a key: an account or a vault) in a table. Data read from some tables is current while their revision stays
 * the same.
 */
import { limits } from '../../limits/service.ts';
import type { AnyTable, Key } from '../table.ts';
import type { WrittenRow } from './row-watch.ts';

/** Two cells per place: commits so far, and commits in progress. */
const CELLS = 2;

export class Revisions {
  readonly #cells: Int32Array;
  /** Index of the cells of a table. */
  readonly #places = new Map<string, number>();
  readonly #firstOwned: number;

  constructor(tables: readonly AnyTable[]) {
    for (const { name } of tables) {
      if (!this.#places.has(name)) this.#places.set(name, this.#places.size * CELLS);
    }
    this.#firstOwned = this.#places.size * CELLS;
    this.#cells = new Int32Array(this.#firstOwned + limits.revisionsOwned * CELLS);
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
      if (this.#cells[place + 1] !== 0) return undefined;
      sum += this.#cells[place] as number;
    }
    return sum;
  }

  /** Number of finished commits to some tables that wrote rows of an owner. */
  finished(tables: readonly AnyTable[], owner: string): number {
    const ownerHash = fnv1a(owner);
    let sum = 0;
    for (const { name } of tables) sum += this.#cells[this.#ownedPlace(name, ownerHash)] as number;
    return sum;
  }

  /** Call before the written rows become visible. Returns a function to call when the commit is over. */
  begin(rows: readonly WrittenRow[]): () => void {
    const places = new Set<number>();
    /** By table, the owner of the row before: the rows of a group mostly have one. */
    const owners = new Map<string, Key[number] | undefined>();
    for (const {
      table: { name: table },
      key,
    } of rows) {
      const owner = key[0];
      const last = owners.get(table);
      if (last === undefined) places.add(this.#placeOf(table));
      else if (last === owner) continue;
      owners.set(table, owner);
      if (typeof owner === 'string') places.add(this.#ownedPlace(table, fnv1a(owner)));
    }
    for (const place of places) this.#add(place + 1, 1);
    return () => {
      for (const place of places) {
        this.#add(place, 1);
        this.#add(place + 1, -1);
      }
    };
  }

  #add(cell: number, amount: number): void {
    this.#cells[cell] = (this.#cells[cell] as number) + amount;
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
