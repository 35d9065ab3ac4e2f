/** Owns who is told that a vault has changed. It carries no data: whoever is told reads the log. */

export type ChangeListener = (vaultId: string, seq: number) => void;

export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  /** Calls `listener` after each change that is durable. Returns how to stop that. It must not throw. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(vaultId: string, seq: number): void {
    for (const listener of this.#listeners) listener(vaultId, seq);
  }
}
