/** Notifies listeners that a vault has changed. A notification carries no data: the listener reads the log. */

export type ChangeListener = (vaultId: string, seq: number) => void;

export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  /** Calls `listener` after each durable change; it must not throw. Returns a function that removes the listener. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(vaultId: string, seq: number): void {
    for (const listener of this.#listeners) listener(vaultId, seq);
  }
}
