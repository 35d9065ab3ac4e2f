/**
 * Tells listeners of durable writes: the only way to hear of a change. A notice names a table and the number of written
 * rows; the listener reads what it needs.
 */
import type { Store } from '../store/store.ts';
import type { AnyTable, Key } from '../store/table.ts';

/** Rows of one owner that a commit wrote to a table. */
export interface WrittenRows {
  /** First part of their keys: an account, or a vault. */
  readonly owner: string;
  readonly table: AnyTable;
  readonly rows: number;
}

/** Called after the commit, in a separate turn of the event loop. It must not throw. */
type Heard = (change: WrittenRows) => void;

const EVERYONE = Symbol('every owner');

export class Changes {
  readonly #listeners = new Map<string | typeof EVERYONE, Set<Heard>>();
  readonly #accountOf: (vaultId: string) => string | undefined;

  /** `accountOf`: the account that hears of a vault's rows like of its own; default: only who watches the vault does. */
  constructor(
    store: Pick<Store, 'watch'>,
    tables: Iterable<AnyTable>,
    accountOf: (vaultId: string) => string | undefined = () => undefined,
  ) {
    this.#accountOf = accountOf;
    for (const table of new Set(tables)) {
      store.watch(table, (written) => () => {
        if (this.#listeners.size > 0) setImmediate(() => this.#tell(table, written));
      });
    }
  }

  /** Calls `heard` for each change of an owner's rows. Returns a function that stops it. */
  watch(owner: string, heard: Heard): () => void {
    return this.#add(owner, heard);
  }

  /** Like `watch`, for every owner. */
  watchAll(heard: Heard): () => void {
    return this.#add(EVERYONE, heard);
  }

  /** Number of listeners that watch an owner. */
  listenersOf(owner: string): number {
    return this.#listeners.get(owner)?.size ?? 0;
  }

  #add(owner: string | typeof EVERYONE, heard: Heard): () => void {
    const listeners = this.#listeners.get(owner) ?? new Set();
    this.#listeners.set(owner, listeners.add(heard));
    return () => {
      listeners.delete(heard);
      if (listeners.size === 0 && this.#listeners.get(owner) === listeners) this.#listeners.delete(owner);
    };
  }

  #tell(table: AnyTable, written: readonly Key[]): void {
    const isOfVaults = table.owners.vault === 0;
    for (const [owner, rows] of rowsByOwner(written)) {
      const account = isOfVaults ? this.#accountOf(owner) : undefined;
      for (const name of [owner, account, EVERYONE] as const) {
        if (name === undefined) continue;
        // A copy: a listener may stop listening when it is told.
        for (const heard of Array.from(this.#listeners.get(name) ?? [])) heard({ owner, table, rows });
      }
    }
  }
}

function rowsByOwner(written: readonly Key[]): Map<string, number> {
  const rows = new Map<string, number>();
  for (const [first] of written) rows.set(String(first), (rows.get(String(first)) ?? 0) + 1);
  return rows;
}
