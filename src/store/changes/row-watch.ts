/**
 * Owns who is told of written rows: whoever keeps something that was made of rows must let go of it before a write can be seen, and
 * make nothing new of these rows until the commit is over.
 */
import type { AnyTable, Key } from '../table.ts';

/** Hears which rows a commit writes, which can be seen at any moment from then on. Returns what to call when the commit is over. */
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

  /** Must be called before what was written can be seen. Returns what to call when that is settled. */
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
