/**
 * Makes the writes of a group of decisions durable. The local committer runs them in a transaction of the data file;
 * `logged/` has the one that appends them to a replicated log first.
 */
import { type Settle, settling, type WrittenRow } from './changes/row-watch.ts';
import { decideHeld } from './held-rows.ts';
import type { Reader, Write } from './table.ts';
import type { Transact } from './transaction.ts';

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
  readonly transact: Transact;
  readonly reader: Reader;
  /** Called with all rows of a commit before they are visible. Returns a function to call when the commit is over. */
  readonly begin: (rows: readonly WrittenRow[]) => Settle;
}

/** Decides inside the transaction that writes: what decisions read is the data file itself. */
export class LocalCommitter implements Committer {
  readonly #options: LocalCommitterOptions;

  constructor(options: LocalCommitterOptions) {
    this.#options = options;
  }

  /** `noteOf`: a row to write with the group, made from all that the group writes. */
  async commit(
    decide: (group: GroupView) => void,
    noteOf?: (written: readonly Write[]) => Write | undefined,
  ): Promise<void> {
    const { transact, reader, begin } = this.#options;
    let settle: Settle = () => {};
    const commit = () =>
      transact((put) => {
        const written: Write[] = [];
        const toFile = (write: Write) => {
          written.push(write);
          put(write.table, write.key, write.bytes);
        };
        decideHeld(reader, toFile, (view) => decide({ ...view, bytesMax: Number.POSITIVE_INFINITY }));
        const note = noteOf?.(written);
        if (note !== undefined) toFile(note);
        settle = begin(written);
      });
    await settling((isWritten) => settle(isWritten), commit);
  }
}
