/**
 * Notifies watchers of written rows. A cache of rows must drop its entries before a write becomes visible, and must not
 * cache these rows again until the commit is over.
 */
import type { AnyTable, Key } from '../table.ts';

/**
 * Called with the keys of a commit, and the `value` of each row, before they become visible. Returns a function to call when
 * the commit is over.
 */
export type RowWatcher = (keys: readonly Key[], values: readonly unknown[]) => Settle;

/** Called when a commit is over. `isWritten`: its rows are visible, and were not a moment ago. */
export type Settle = (isWritten: boolean) => void;

export interface WrittenRow {
  readonly table: Pick<AnyTable, 'name'>;
  readonly key: Key;
  /** What its bytes were made of. Absent: the row is removed, or only its bytes are known. */
  readonly value?: unknown;
}

export class RowWatchers {
  readonly #watchers = new Map<string, RowWatcher[]>();

  watch({ name }: AnyTable, watcher: RowWatcher): void {
    this.#watchers.set(name, [...(this.#watchers.get(name) ?? []), watcher]);
  }

  /** Call before the written rows become visible. Returns a function to call when the commit is over. */
  begin(rows: readonly WrittenRow[]): Settle {
    const watched = new Map<string, { readonly keys: Key[]; readonly values: unknown[] }>();
    for (const { table, key, value } of rows) {
      const known = watched.get(table.name);
      if (known !== undefined) {
        known.keys.push(key);
        known.values.push(value);
      } else if (this.#watchers.has(table.name)) watched.set(table.name, { keys: [key], values: [value] });
    }
    const settles: Settle[] = [];
    for (const [name, { keys, values }] of watched) {
      for (const watcher of this.#watchers.get(name) ?? []) settles.push(watcher(keys, values));
    }
    return (isWritten) => {
      for (const settle of settles) settle(isWritten);
    };
  }
}
