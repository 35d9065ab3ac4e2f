/**
 * Makes the writes of a group of decisions durable. The local committer runs them in a transaction of the data file;
 * `logged/` has the one that appends them to a replicated log first.
 */
import type { Database } from 'lmdb';
import type { WrittenRow } from './changes/row-watch.ts';
import { HeldRows, readerOver } from './held-rows.ts';
import type { AnyTable, Key, Reader, Write } from './table.ts';

/** The library's handle of a table. */
export type Raw = Database<Buffer, Key>;

/** What a group of decisions reads and writes. Reads show the writes of all decisions before. */
export interface GroupView {
  readonly reader: Reader;
  readonly write: (writes: readonly Write[]) => void;
  /** The group takes no further decision above this many bytes. */
  readonly bytesMax: number;
}

export interface Committer {
  /**
   * Runs `decide` once, synchronously, when the group may read. Resolves when what it wrote is durable and visible.
   * Rejects when nothing of it was written.
   */
  commit(decide: (group: GroupView) => void): Promise<void>;
}

export interface LocalCommitterOptions {
  /** Runs a function in a write transaction; resolves when it is durable. Rolls back when the function throws. */
  readonly transact: (run: () => void) => Promise<unknown>;
  readonly reader: Reader;
  readonly raw: (table: AnyTable) => Raw;
  /** Called with all rows of a commit before they are visible. Returns a function to call when the commit is over. */
  readonly begin: (rows: readonly WrittenRow[]) => () => void;
}

/** Decides inside the transaction that writes: what decisions read is the data file itself. */
export class LocalCommitter implements Committer {
  readonly #options: LocalCommitterOptions;

  constructor(options: LocalCommitterOptions) {
    this.#options = options;
  }

  async commit(decide: (group: GroupView) => void): Promise<void> {
    const { transact, reader, raw, begin } = this.#options;
    const written: WrittenRow[] = [];
    const toFile = ({ table, key, bytes }: Write) => {
      written.push({ table: table.name, key });
      if (bytes === undefined) void raw(table).remove(key);
      else void raw(table).put(key, bytes);
    };
    const held = new HeldRows(toFile);
    const write = (writes: readonly Write[]) => {
      for (const one of writes) {
        if (one.table.isWalked === true) held.noteWritten(one.table);
        if (one.table.isHead === true) held.hold(one);
        else toFile(one);
      }
    };
    let settle = () => {};
    try {
      await transact(() => {
        decide({ reader: readerOver(held, reader), write, bytesMax: Number.POSITIVE_INFINITY });
        held.releaseAll();
        settle = begin(written);
      });
    } finally {
      settle();
    }
  }
}
