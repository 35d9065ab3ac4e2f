/**
 * Items in no order, added and removed in constant time. Not a Set: V8 links each table that a Set or Map has outgrown
 * to the next one (OrderedHashTable, `SetNextTable`), and leaves the members in it. A table that reached the old
 * generation so keeps the members of all later ones alive until the next full collection, and each collection of young
 * objects copies them. An array has no such link.
 */

/** An item that knows its place in the one bag that it may be in. */
export interface Bagged {
  /** Written by the bag only. */
  bagPlace: number;
}

/** The place of an item that is in no bag. */
export const NO_PLACE = -1;

export class Bag<T extends Bagged> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Adds an item that is in no bag. */
  add(item: T): void {
    item.bagPlace = this.#items.length;
    this.#items.push(item);
  }

  /** Removes an item; one that is in no bag is left alone. */
  remove(item: T): void {
    const place = item.bagPlace;
    if (place === NO_PLACE) return;
    item.bagPlace = NO_PLACE;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#items[place] = last;
    last.bagPlace = place;
  }

  /** The items now: a copy, so that they may be removed meanwhile. */
  all(): T[] {
    return [...this.#items];
  }
}
