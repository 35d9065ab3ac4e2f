/**
 * Notifies watchers of written rows. A cache of rows must drop its entries before a write becomes visible, and must not
 * cache these rows again until the commit is over.
 */
import type { AnyTable, Key } from '../table.ts';

/** Called with the rows of a commit before they become visible. Returns a function to call when the commit is over. */
export type RowWatcher = (keys: readonly Key[]) => () => void;

export interface WrittenRow {
  readonly table: string;
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
    for (const { table, key } of rows) {
      if (!this.#watchers.has(table)) continue;
      const known = keys.get(table);
      if (known === undefined) keys.set(table, [key]);
      else known.push(key);
    }
    const settles = [...keys].flatMap(([table, written]) =>
      (this.#watchers.get(table) ?? []).map((watcher) => watcher(written)),
    );
    return () => {
      for (const settle of settles) settle();
    };
  }
}
