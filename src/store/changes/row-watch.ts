/**
 * Notifies watchers of written rows. A cache of rows must drop its entries before a write becomes visible, and must not
 * cache these rows again until the commit is over.
 */
import type { AnyTable, Key } from '../table.ts';

/** Called with the rows of a commit before they become visible. Returns a function to call when the commit is over. */
export type RowWatcher = (keys: readonly Key[]) => () => void;

export interface WrittenRow {
  readonly table: Pick<AnyTable, 'name'>;
  readonly key: Key;
}

export class RowWatchers {
  readonly #watchers = new Map<string, RowWatcher[]>();

  watch({ name }: AnyTable, watcher: RowWatcher): void {
    this.#watchers.set(name, [...(this.#watchers.get(name) ?? []), watcher]);
  }

  /** Call before the written rows become visible. Returns a function to call when the commit is over. */
  begin(rows: readonly WrittenRow[]): () => void {
    const keys = new Map<string, Key[]>();
    for (const {
      table: { name },
      key,
    } of rows) {
      if (!this.#watchers.has(name)) continue;
      const known = keys.get(name);
      if (known === undefined) keys.set(name, [key]);
      else known.push(key);
    }
    const settles = [...keys].flatMap(([name, written]) =>
      (this.#watchers.get(name) ?? []).map((watcher) => watcher(written)),
    );
    return () => {
      for (const settle of settles) settle();
    };
  }
}
