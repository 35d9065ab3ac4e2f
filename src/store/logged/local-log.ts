/**
 * Answers writes once the data file has them, and appends them to the log behind (`CAIRN_LOG_ACK=local`). Each commit
 * also writes what it wrote as a row of `unlogged`; records take those rows in order, and are noted in the data file
 * together with the removal of the rows. Large values go beside the log before the record that names them. When too many
 * bytes wait for the log, writes wait as well.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../limits/service.ts';
import { type Committer, type GroupView, LocalCommitter, type LocalCommitterOptions } from '../committer.ts';
import { storedKey } from '../rows.ts';
import type { AnyTable, Key, Write } from '../table.ts';
import { copyOfRow, type Raw } from '../transaction.ts';
import type { RecordLog } from './committer.ts';
import { PartsAhead } from './parts-ahead.ts';
import { placeRow } from './place.ts';
import {
  oldestUnlogged,
  type UnloggedRow,
  unloggedCommits,
  unloggedRow,
  unloggedSpan,
  unloggedThrough,
} from './unlogged.ts';

export interface LargeRow {
  readonly table: AnyTable;
  readonly key: Key;
  readonly bytes: Buffer;
}

export interface LocalLogOptions extends LocalCommitterOptions {
  /** `later`: nothing is appended by this process; the next owner in this folder does. */
  readonly log: RecordLog | 'later';
  readonly raw: (table: Pick<AnyTable, 'name'>) => Raw;
  /** Makes the next read see the newest commit. */
  readonly renewReads: () => void;
  /** Writes rows in one commit from the library's thread. */
  readonly putAll: (rows: readonly LargeRow[]) => Promise<void>;
}

/** A commit that the log does not have yet. */
interface Waiting {
  readonly number: number;
  readonly bytes: number;
  /** By the monotonic clock. */
  readonly sinceMs: number;
  isCommitted: boolean;
  /** True when it is committed and the log has its large values. */
  isReady: boolean;
}

/** How far the log is behind the data file. */
export interface LogLag {
  readonly commits: number;
  readonly bytes: number;
  /** How long the oldest commit has waited, in milliseconds; 0: none waits. */
  readonly ms: number;
}

export class LocalLog implements Committer {
  readonly #options: LocalLogOptions;
  readonly #local: LocalCommitter;
  /** In the order of their numbers; those under way too. */
  #waiting: Waiting[] = [];
  #bytes = 0;
  #numbers = 0;
  readonly #parts: PartsAhead | undefined;
  /** Resolved when the log has more, and when a commit is ready for it. */
  #onChange: (() => void)[] = [];
  #isAppending = false;

  constructor(options: LocalLogOptions) {
    this.#options = options;
    this.#local = new LocalCommitter(options);
    this.#numbers = unloggedSpan(options.reader)?.last ?? 0;
    const { log, renewReads } = options;
    if (log === 'later') return;
    const bytesOf = (table: string, key: Uint8Array) => {
      renewReads();
      return this.#bytesOf(table, key);
    };
    this.#parts = new PartsAhead({ putPart: (bytes) => log.putPart(bytes), bytesOf });
  }

  get lag(): LogLag {
    const oldest = this.#waiting.find(({ isCommitted }) => isCommitted);
    const ms = oldest === undefined ? 0 : performance.now() - oldest.sinceMs;
    return { commits: this.#waiting.filter(({ isCommitted }) => isCommitted).length, bytes: this.#bytes, ms };
  }

  async commit(decide: (group: GroupView) => void): Promise<void> {
    await this.#room();
    let taken: Waiting | undefined;
    try {
      const noteOf = (written: readonly Write[]) => {
        if (written.length === 0) return undefined;
        const rows = written.map(({ table, key, bytes }): UnloggedRow => {
          return { table: table.name, key: storedKey(key), value: bytes };
        });
        taken = this.#take(rows.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0));
        return unloggedRow(taken.number, { atMs: Date.now(), rows });
      };
      await this.#local.commit((group) => decide({ ...group, bytesMax: limits.logGroupBytesMax }), noteOf);
    } catch (error) {
      this.#giveBack(taken);
      throw error;
    }
    if (taken !== undefined) this.#noteCommitted(taken, []);
  }

  /** Writes large bytes once: the log takes them from the data file, where they stay until a later commit removes them. */
  async writeBytes(rows: readonly LargeRow[]): Promise<void> {
    await this.#room();
    const taken = this.#take(rows.reduce((sum, { bytes }) => sum + bytes.length, 0));
    const named = rows.map(({ table, key }): UnloggedRow => {
      return { table: table.name, key: storedKey(key), isInFile: true };
    });
    try {
      await this.#options.putAll([...rows, unloggedRow(taken.number, { atMs: Date.now(), rows: named })]);
    } catch (error) {
      this.#giveBack(taken);
      throw error;
    }
    this.#noteCommitted(
      taken,
      named.filter((_, at) => (rows[at]?.bytes.length ?? 0) >= limits.logPartBytesMin),
    );
  }

  /** Resolves when the log has everything that was committed before this call, if this process appends. */
  async settled(): Promise<void> {
    if (this.#options.log === 'later') return;
    const last = this.#waiting.at(-1)?.number ?? 0;
    while ((this.#waiting[0]?.number ?? Number.POSITIVE_INFINITY) <= last) await this.#nextChange();
  }

  /** Waits while too many bytes wait for the log. */
  async #room(): Promise<void> {
    while (this.#bytes >= limits.unloggedBytesMax) await this.#nextChange();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #take(bytes: number): Waiting {
    this.#numbers += 1;
    const taken = { number: this.#numbers, bytes, sinceMs: performance.now(), isCommitted: false, isReady: false };
    this.#waiting.push(taken);
    this.#bytes += bytes;
    return taken;
  }

  #giveBack(taken: Waiting | undefined): void {
    if (taken === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== taken);
    this.#bytes -= taken.bytes;
    this.#wake();
  }

  #noteCommitted(taken: Waiting, large: readonly UnloggedRow[]): void {
    taken.isCommitted = true;
    const { log } = this.#options;
    if (log === 'later') return;
    void this.#makeReady(taken, large).catch((error: unknown) => log.lost(error));
    if (!this.#isAppending) void this.#appendAll(log);
  }

  async #makeReady(taken: Waiting, large: readonly UnloggedRow[]): Promise<void> {
    if (large.length > 0) await this.#parts?.put(taken.number, large);
    taken.isReady = true;
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }

  /** Appends until the log has all. A pause before each record lets commits share it, unless enough for one waits. */
  async #appendAll(log: RecordLog): Promise<void> {
    this.#isAppending = true;
    try {
      while (this.#waiting.some(({ isCommitted }) => isCommitted)) {
        if (this.#bytes < limits.logGroupBytesMax) await sleep(limits.unloggedPauseMs);
        while (this.#waiting[0]?.isReady === false) await this.#nextChange();
        await this.#appendOldest(log);
      }
    } catch (error) {
      log.lost(error);
    } finally {
      this.#isAppending = false;
    }
  }

  async #appendOldest(log: RecordLog): Promise<void> {
    const { reader, renewReads, transact } = this.#options;
    // One that is under way may become visible after later ones: records keep the order of the numbers.
    const underWay = this.#waiting.find(({ isReady }) => !isReady);
    const last = (underWay?.number ?? this.#numbers + 1) - 1;
    renewReads();
    const storedOf = ({ table, key }: UnloggedRow, commit: number) => {
      const part = this.#parts?.find(commit, table, key);
      if (part !== undefined) return { part };
      const value = this.#bytesOf(table, key);
      return value && { value };
    };
    const group = oldestUnlogged(reader, storedOf, { last, bytesMax: limits.logGroupBytesMax });
    if (group === undefined) return;
    const { rows, through } = group;
    const place = await log.append(rows, through);
    const ends = placeRow(place);
    await transact((put) => {
      for (const key of unloggedThrough(reader, through)) put(unloggedCommits, key, undefined);
      put(ends.table, ends.key, ends.bytes);
    });
    for (let first = this.#waiting[0]; first !== undefined && first.number <= through; first = this.#waiting[0]) {
      this.#bytes -= first.bytes;
      this.#waiting.shift();
      this.#parts?.forget(first.number);
    }
    this.#wake();
  }

  /** A copy of the newest stored bytes of a row. */
  #bytesOf(table: string, key: Uint8Array): Uint8Array | undefined {
    return copyOfRow(this.#options.raw({ name: table }), key);
  }
}
