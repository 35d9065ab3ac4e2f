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

/** Entries by group and key: a look-up then needs no text made of both. */
type Groups<K, V> = Map<string, Map<K, Entry<V>>>;

export class Recent<V, K extends string | number = string> {
  readonly #weightMax: number;
  #young: Groups<K, V> = new Map();
  #old: Groups<K, V> = new Map();
  #youngWeight = 0;

  /** `weightMax`: maximum sum of the weights of all values, in the unit of the caller. */
  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get(key: K, group = ''): V | undefined {
    const young = this.#young.get(group)?.get(key);
    if (young !== undefined) return young.value;
    const old = take(this.#old, group, key);
    if (old === undefined) return undefined;
    this.#put(key, group, old);
    return old.value;
  }

  /** Stores a value, unless it weighs more than half of the maximum. */
  set(key: K, value: V, weight: number, group = ''): void {
    this.remove(key, group);
    if (weight <= this.#weightMax / 2) this.#put(key, group, { value, weight });
  }

  remove(key: K, group = ''): void {
    this.#youngWeight -= take(this.#young, group, key)?.weight ?? 0;
    take(this.#old, group, key);
  }

  #put(key: K, group: string, entry: Entry<V>): void {
    if (this.#youngWeight + entry.weight > this.#weightMax / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 0;
    }
    const entries = this.#young.get(group);
    if (entries === undefined) this.#young.set(group, new Map([[key, entry]]));
    else entries.set(key, entry);
    this.#youngWeight += entry.weight;
  }
}

/** Removes an entry and returns it. */
function take<K, V>(groups: Groups<K, V>, group: string, key: K): Entry<V> | undefined {
  const entries = groups.get(group);
  const entry = entries?.get(key);
  if (entries === undefined || entry === undefined) return undefined;
  entries.delete(key);
  if (entries.size === 0) groups.delete(group);
  return entry;
}
