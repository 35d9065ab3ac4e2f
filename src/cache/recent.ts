/**
 * Owns a bounded memory for many small values that are read far more often than set: two generations, of which the older is
 * dropped when the younger is half of what is allowed. A value that is asked for moves into the younger, so what was not asked for
 * the longest goes first, roughly; a value of the younger costs one look-up and is not moved.
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

  /** `weightMax`: the sum of the weights of all values, in whatever unit they are given in. */
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

  /** A value that weighs more than half of what is allowed is not kept. */
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
