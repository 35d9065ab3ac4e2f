/**
 * Owns when a pack that was replaced may go: once every stream that began before it was replaced has ended. Counted by
 * moments of replacement, so that a stream costs one counter whatever it reads.
 */

export class PackLeases {
  /** Rises with every replacement. */
  #moment = 0;
  /** Streams that run, by the moment in which they began. */
  readonly #running = new Map<number, number>();
  readonly #retired: { readonly packId: number; readonly moment: number }[] = [];
  readonly #onFree: (packIds: readonly number[]) => void;

  /** `onFree` is told which packs nobody reads any more, outside of the call that freed them. */
  constructor(onFree: (packIds: readonly number[]) => void) {
    this.#onFree = onFree;
  }

  /** A stream begins. Returns how it ends; a second call does nothing. */
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

  /** No plan that is made from now on names these packs. */
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
