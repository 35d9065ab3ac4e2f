/**
 * Caches many small values that are read far more often than set, in two generations. When the younger one reaches half
 * of the maximum weight, the older one is dropped. Reading a value of the older generation moves it to the younger, so
 * eviction is roughly least recently used. Reading a value of the younger generation costs one look-up and moves
 * nothing.
 */

interface Entry<V> {
  readonly value: V;
  readonly weight: number;
}

export class Recent<V> {
  readonly #weightMax: number;
  #young = new Map<string, Entry<V>>();
  #old = new Map<string, Entry<V>>();
  #youngWeight = 0;

  /** `weightMax`: maximum sum of the weights of all values, in the unit of the caller. */
  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.#put(key, old);
    return old.value;
  }

  /** Stores a value, unless it weighs more than half of the maximum. */
  set(key: string, value: V, weight: number): void {
    this.remove(key);
    if (weight <= this.#weightMax / 2) this.#put(key, { value, weight });
  }

  remove(key: string): void {
    this.#youngWeight -= this.#young.get(key)?.weight ?? 0;
    this.#young.delete(key);
    this.#old.delete(key);
  }

  #put(key: string, entry: Entry<V>): void {
    if (this.#youngWeight + entry.weight > this.#weightMax / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 0;
    }
    this.#young.set(key, entry);
    this.#youngWeight += entry.weight;
  }
}
