/**
 * Decides when a replaced pack can be removed: once every stream begun before the replacement has ended. Streams are
 * counted per replacement, so a stream costs one counter, however many packs it reads.
 */

export class PackLeases {
  #moment = 0;
  /** Number of running streams by the moment they began. */
  readonly #running = new Map<number, number>();
  readonly #retired: { readonly packId: number; readonly moment: number }[] = [];
  readonly #onFree: (packIds: readonly number[]) => void;

  /** `onFree` receives the packs no longer read, asynchronously, never within the call that freed them. */
  constructor(onFree: (packIds: readonly number[]) => void) {
    this.#onFree = onFree;
  }

  /** Registers a stream. Returns the function that ends it; a second call does nothing. */
  begin(): () => void {
    const moment = this.#moment;
    this.#running.set(moment, (this.#running.get(moment) ?? 0) + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const left = (this.#running.get(moment) ?? 1) - 1;
      if (left > 0) this.#running.set(moment, left);
      else this.#running.delete(moment);
      this.#free();
    };
  }

  /** Marks packs as replaced: plans made after this call do not use them. */
  retire(packIds: readonly number[]): void {
    for (const packId of packIds) this.#retired.push({ packId, moment: this.#moment });
    this.#moment += 1;
    this.#free();
  }

  #free(): void {
    let oldest = Number.POSITIVE_INFINITY;
    for (const moment of this.#running.keys()) oldest = Math.min(oldest, moment);
    const kept = this.#retired.findIndex(({ moment }) => moment >= oldest);
    const free = this.#retired.splice(0, kept < 0 ? this.#retired.length : kept);
    if (free.length > 0) setImmediate(() => this.#onFree(free.map(({ packId }) => packId)));
  }
}
