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
    for (const { table, key } of rows) {
      const known = keys.get(table.name);
      if (known !== undefined) known.push(key);
      else if (this.#watchers.has(table.name)) keys.set(table.name, [key]);
    }
    const settles: (() => void)[] = [];
    for (const [name, written] of keys) {
      for (const watcher of this.#watchers.get(name) ?? []) settles.push(watcher(written));
    }
    return () => {
      for (const settle of settles) settle();
    };
  }
}
