/**
 * Notifies watchers of written rows. A cache of rows must drop its entries before a write becomes visible, and must not
 * cache these rows again until the commit is over.
 */
import { memo } from '../../common/memo.ts';
import type { AnyTable, Key } from '../table.ts';

/**
 * Called with the keys of a commit, and the `value` of each row, before they become visible. Returns a function to call when
 * the commit is over.
 */
export type RowWatcher = (keys: readonly Key[], values: readonly unknown[]) => Settle;

/** Called when a commit is over. `isWritten`: its rows are on disk and visible; else nothing of it is known to be. */
export type Settle = (isWritten: boolean) => void;

/** Runs a commit, and tells when it is over whether it wrote. Throws its error. */
export async function settling(settle: Settle, commit: () => Promise<unknown>): Promise<void> {
  let isWritten = false;
  try {
    await commit();
    isWritten = true;
  } finally {
    settle(isWritten);
  }
}

export interface WrittenRow {
  readonly table: Pick<AnyTable, 'name'>;
  readonly key: Key;
  /** What its bytes were made of. Absent: the row is removed, or only its bytes are known. */
  readonly value?: unknown;
}

/** What a commit writes of a watched table. */
interface Watched {
  readonly keys: Key[];
  readonly values: unknown[];
}

const noneYet = (): Watched => ({ keys: [], values: [] });

export class RowWatchers {
  readonly #watchers = new Map<string, RowWatcher[]>();

  watch({ name }: AnyTable, watcher: RowWatcher): void {
    this.#watchers.set(name, [...(this.#watchers.get(name) ?? []), watcher]);
  }

  /** Call before the written rows become visible. Returns a function to call when the commit is over. */
  begin(rows: readonly WrittenRow[]): Settle {
    const watched = new Map<string, Watched>();
    for (const row of rows) {
      const { table, key } = row;
      if (!this.#watchers.has(table.name)) continue;
      const { keys, values } = memo(watched, table.name, noneYet);
      keys.push(key);
      // Read here and not above: a head gives a copy.
      values.push(row.value);
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
