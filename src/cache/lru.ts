/**
 * Caches values derived from the store, up to a maximum weight. Each value is valid for one revision of the tables it
 * was read from. The least recently used value is evicted first.
 */

interface Entry<V> {
  readonly value: V;
  readonly revision: number;
  readonly weight: number;
}

export class Remembered<V> {
  readonly #weightMax: number;
  /** In the order of last use. */
  readonly #entries = new Map<string, Entry<V>>();
  /** The last entry in that order. Most reads request it again, so it need not be moved. */
  #newest: Entry<V> | undefined;
  #weight = 0;

  /** `weightMax`: maximum sum of the weights of all values, in the unit of the caller. */
  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  /** Returns the value of a key if it was read at this revision. */
  get(key: string, revision: number): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.revision !== revision) return undefined;
    if (entry !== this.#newest) {
      this.#entries.delete(key);
      this.#put(key, entry);
    }
    return entry.value;
  }

  set(key: string, revision: number, value: V, weight: number): void {
    this.#remove(key);
    if (weight > this.#weightMax) return;
    this.#put(key, { value, revision, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax) return;
      this.#remove(oldest);
    }
  }

  #put(key: string, entry: Entry<V>): void {
    this.#entries.set(key, entry);
    this.#newest = entry;
  }

  #remove(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}
