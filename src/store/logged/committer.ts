/**
 * Makes decisions durable in a replicated log before the data file has them. A group decides over the data file and an
 * overlay of its own rows; they are appended as one record, then written to the data file together with the place of
 * the record, and only then are the callers told. One record is under way at a time; decisions queue meanwhile.
 */
import { limits } from '../../limits/service.ts';
import { type Settle, settling, type WrittenRow } from '../changes/row-watch.ts';
import type { Committer, GroupView } from '../committer.ts';
import { decideHeld } from '../held-rows.ts';
import { type LoggedRow, type RowPart, storedKey } from '../rows.ts';
import type { AnyTable, Key, Write } from '../table.ts';
import type { TableReads } from '../table-reads.ts';
import type { Transact } from '../transaction.ts';
import { Overlay } from './overlay.ts';
import { OverlayReads } from './overlay-reads.ts';
import { type LogPlace, placeRow } from './place.ts';

/** When a write is answered: after the log has it, or after the data file has it. */
export type LogAck = 'log' | 'local';

/** The log of a member that owns it. */
export interface RecordLog {
  readonly ack: LogAck;
  /** Keeps large bytes beside the log and resolves with their name, which a later record must contain. */
  putPart(bytes: Uint8Array): Promise<RowPart>;
  /**
   * Appends a record and resolves with its place once the log keeps it. It rejects when the outcome will never be known
   * to this process; then nothing more may be decided.
   * @param through the number of the last commit in it that was answered before
   */
  append(rows: readonly LoggedRow[], through?: number): Promise<LogPlace>;
  /** Called when the log has a record that the data file does not take: this process must end. */
  lost(error: unknown): void;
}

export interface LoggedCommitterOptions {
  readonly log: RecordLog;
  readonly transact: Transact;
  readonly reads: TableReads;
  /** Makes the next read see the newest commit. */
  readonly renewReads: () => void;
  readonly begin: (rows: readonly WrittenRow[]) => Settle;
}

/** A row on its way to the log and then to the data file. */
interface Row {
  readonly logged: LoggedRow;
  readonly key: Key;
  readonly bytes: Buffer | undefined;
}

interface Staged {
  readonly rows: readonly Row[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class LoggedCommitter implements Committer {
  readonly #options: LoggedCommitterOptions;
  /** Rows written without a decision, for the next record. */
  #staged: Staged[] = [];
  /** Ends when the record under way is settled. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: LoggedCommitterOptions) {
    this.#options = options;
  }

  commit(decide: (group: GroupView) => void): Promise<void> {
    return this.#inTurn(async () => {
      const { reads, renewReads } = this.#options;
      const overlay = new Overlay();
      const rows: Row[] = [];
      const toOverlay = ({ table, key, bytes }: Write) => {
        const stored = storedKey(key);
        // Bytes of a table without checksums are the caller's own, and this group waits for the log.
        const value = table.sums === undefined && bytes !== undefined ? Buffer.from(bytes) : bytes;
        overlay.put(table.name, { key, stored, value });
        rows.push({ logged: { table: table.name, key: stored, value }, key, bytes: value });
      };
      renewReads();
      decideHeld(new OverlayReads(reads, overlay), toOverlay, (view) =>
        decide({ ...view, bytesMax: limits.logGroupBytesMax }),
      );
      await this.#write(rows);
    });
  }

  /** Writes rows that no decision reads before this resolves. Their large values go beside the log at once. */
  async writeBytes(rows: readonly { table: AnyTable; key: Key; bytes: Buffer }[]): Promise<void> {
    const ready = await Promise.all(rows.map((row) => this.#stage(row)));
    await new Promise<void>((resolve, reject) => {
      this.#staged.push({ rows: ready, resolve, reject });
      // A group that comes first takes them along.
      void this.#inTurn(() => this.#write([])).catch(() => undefined);
    });
  }

  async #stage({ table, key, bytes }: { table: AnyTable; key: Key; bytes: Buffer }): Promise<Row> {
    const name = { table: table.name, key: storedKey(key) };
    const isLarge = bytes.length >= limits.logPartBytesMin;
    const logged = isLarge ? { ...name, part: await this.#options.log.putPart(bytes) } : { ...name, value: bytes };
    return { logged, key, bytes };
  }

  async #write(decided: readonly Row[]): Promise<void> {
    const staged = this.#staged;
    this.#staged = [];
    const rows = [...staged.flatMap((each) => each.rows), ...decided];
    if (rows.length === 0) return;
    try {
      const place = await this.#options.log.append(rows.map(({ logged }) => logged));
      await this.#apply(rows, place);
    } catch (error) {
      for (const { reject } of staged) reject(error);
      throw error;
    }
    for (const { resolve } of staged) resolve();
  }

  async #apply(rows: readonly Row[], place: LogPlace): Promise<void> {
    const { transact, begin, log } = this.#options;
    const settle = begin(rows.map(({ logged: { table: name }, key }) => ({ table: { name }, key })));
    await settling(settle, async () => {
      try {
        const ends = placeRow(place);
        await transact((put) => {
          for (const { logged, key, bytes } of rows) put({ name: logged.table }, key, bytes);
          put(ends.table, ends.key, ends.bytes);
        });
      } catch (error) {
        log.lost(error);
        throw error;
      }
    });
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(run);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
