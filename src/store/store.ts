/** Opens one LMDB data file with its tables, and provides snapshot reads and two kinds of writes. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../limits/service.ts';
import { Revisions } from './changes/revisions.ts';
import { type RowWatcher, RowWatchers, type Settle, settling, type WrittenRow } from './changes/row-watch.ts';
import { type Committer, LocalCommitter } from './committer.ts';
import { checkAddressSpace } from './data-file/address-space.ts';
import { checkDataFile, findDamagedPages } from './data-file/check.ts';
import { DATA_FILE } from './data-file/names.ts';
import { syncPath } from './data-file/sync-path.ts';
import { type Environment, openEnvironment, openTables } from './environment.ts';
import { failureOf, fileSpace, freeBytes, hasOverrun } from './failure.ts';
import { type Decision, GroupCommit } from './group-commit.ts';
import { LoggedCommitter, type RecordLog } from './logged/committer.ts';
import { type LargeRow, LocalLog, type LogLag } from './logged/local-log.ts';
import { checkOwner, STAGING, type Writer } from './owners.ts';
import { Room } from './room.ts';
import { type DamagedRow, sealRow } from './row-sums.ts';
import { readStats, type StoreStats } from './stats.ts';
import type { AnyTable, Entry, Key, RangeQuery, Reader, Snapshot, Table } from './table.ts';
import { type OnUnreadable, snapshotOf, TableReads } from './table-reads.ts';
import { type Raw, transactIn } from './transaction.ts';

export interface StoreOptions {
  readonly folder: string;
  readonly tables: readonly AnyTable[];
  readonly readOnly?: boolean;
  /** Address space of the memory map. */
  readonly mapBytes?: number;
  /** Called for each commit that failed on the disk, before its callers are rejected. */
  readonly onFailure?: (failure: DiskFailure) => void;
  /** Called with each damaged row that is read. */
  readonly onDamaged?: (row: DamagedRow) => void;
  /** The log that keeps every write, before this file has it or soon after; `later`: once a member owns it again. */
  readonly log?: RecordLog | 'later' | undefined;
}

export interface DiskFailure {
  /** The system's error. */
  readonly cause: unknown;
  /** True when this process can no longer read or write the file, although a new process can. */
  readonly isFinal: boolean;
}

/** Whether commits reach the disk. */
export interface Writing {
  /** When a commit failed on the disk, in milliseconds since 1970, if none has succeeded since. */
  readonly failedMs: number | undefined;
  /** How long the oldest commit in progress has taken so far, in milliseconds. */
  readonly waitingMs: number;
  /** Milliseconds since a commit last succeeded. */
  readonly quietMs: number;
}

export class Store implements Reader {
  readonly #folder: string;
  readonly #onFailure: (failure: DiskFailure) => void;
  readonly #root: Environment;
  readonly #tables: ReadonlyMap<string, Raw>;
  readonly #rows: TableReads;
  readonly #commits: GroupCommit;
  /** Undefined: no log keeps the writes of this file. */
  readonly #logged: LoggedCommitter | LocalLog | undefined;
  readonly #revisions: Revisions;
  readonly #watchers = new RowWatchers();
  readonly #room: Room;
  readonly #mapBytes: number;
  /** When a commit failed on the disk, in milliseconds since 1970; undefined after one that succeeded. */
  #failedMs: number | undefined;
  /** When the newest commit succeeded, by the monotonic clock. */
  #committedAt = Number.NEGATIVE_INFINITY;

  /** Opens or creates the data file. Throws StartError when LMDB cannot open it, and system errors of the folder. */
  constructor(options: StoreOptions) {
    this.#folder = options.folder;
    this.#revisions = new Revisions(options.tables);
    const path = join(options.folder, DATA_FILE);
    const { mapBytes = limits.mapBytes } = options;
    if (existsSync(path))
      checkDataFile(
        path,
        mapBytes,
        options.tables.map(({ name }) => name),
      );
    checkAddressSpace(mapBytes);
    this.#onFailure = options.onFailure ?? (() => undefined);
    const { readOnly = false } = options;
    this.#root = openEnvironment({ path, mapBytes, readOnly });
    this.#tables = openTables(this.#root, options.tables, readOnly);
    // The name of a new data file must survive a power failure, as its pages do.
    if (!readOnly) syncPath(options.folder);
    this.#mapBytes = mapBytes;
    this.#room = new Room({
      freeBytes: () => this.#space().freeBytes,
      unusedBytes: () => this.#unusedBytes(),
      elapsed: () => performance.now(),
    });
    this.#rows = new TableReads(this.#tables, options.onDamaged);
    this.#logged = options.log && this.#openLogged(options.log);
    this.#commits = new GroupCommit({
      committer: this.#logged ?? this.#openLocal(),
      look: () => this.#room.look(),
      committed: () => this.#noteCommitted(),
      refusalOf: (error) => this.#refusalOf(error),
      elapsed: () => performance.now(),
    });
  }

  get<K extends Key, V>(table: Table<K, V>, key: K): V | undefined {
    return this.#reads().get(table, key);
  }

  view<K extends Key>(table: Table<K, Uint8Array>, key: K): Uint8Array | undefined {
    return this.#reads().view(table, key);
  }

  range<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Entry<K, V>[] {
    return this.#reads().range(table, query);
  }

  entries<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<Entry<K, V>> {
    return this.#reads().entries(table, query);
  }

  keys<K extends Key, V>(table: Table<K, V>, prefix: Key = []): Generator<K> {
    return this.#reads().keys(table, prefix);
  }

  keysIn<K extends Key, V>(table: Table<K, V>, query: RangeQuery): Generator<K> {
    return this.#reads().keysIn(table, query);
  }

  lastKey<K extends Key, V>(table: Table<K, V>): K | undefined {
    return this.#reads().lastKey(table);
  }

  /**
   * A number that stays the same while these tables do not change; with `owner`, while rows whose key begins with it do
   * not. Undefined while a write to one is in progress. Reads after this call are at least as new as the number.
   */
  revision(tables: readonly AnyTable[], owner?: string): number | undefined {
    if (this.#commits.isDeciding) throw new Error('a decision reads the store and not its batch');
    return this.#revisions.of(tables, owner);
  }

  /**
   * Number of finished commits to these tables with rows whose key begins with `owner`; a commit in progress is not
   * counted. Now and then one of another owner is.
   */
  commitsTo(tables: readonly AnyTable[], owner: string): number {
    return this.#revisions.finished(tables, owner);
  }

  /** Makes the next reads of this thread see the newest commit, whichever thread made it. */
  renew(): void {
    this.#root.resetReadTxn();
  }

  /** Calls a watcher with the keys of a table that each commit writes. */
  watch(table: AnyTable, watcher: RowWatcher): void {
    this.#watchers.watch(table, watcher);
  }

  /**
   * Runs a decision of a writer in a group commit and resolves with its result once that commit is on disk.
   * Rejects with the decision's error, or with a storage refusal when the commit failed. `settled`: called before
   * that, once.
   */
  write<T>(writer: Writer, decide: Decision<T>, settled?: () => void): Promise<T> {
    return this.#commits.write(writer, decide, settled);
  }

  /**
   * How many bytes may be passed to `writeBytes` at once. Few while decisions are made: a decision waits for the commit
   * in progress, which lasts as long as the disk needs for its bytes.
   */
  get bytesAtOnceMax(): number {
    return this.#commits.isBusy ? limits.stagingBytesBesideWrites : limits.stagingBytesMax;
  }

  /**
   * Writes bytes from the library's thread, in one commit with the small rows that belong to them, after the decisions
   * whose commit is in progress: they are not to wait for the bytes as well. Resolves when they are on disk. Do not modify
   * the buffers until the promise settles.
   */
  async writeBytes(
    rows: readonly { readonly table: AnyTable; readonly key: Key; readonly bytes: Uint8Array }[],
  ): Promise<void> {
    for (const { table, key, bytes } of rows) checkOwner(STAGING, table, key, bytes, () => undefined);
    const giveBack = this.#room.take(rows.reduce((sum, { bytes }) => sum + bytes.length, 0));
    try {
      const sealed = rows.map(({ table, key, bytes }) => {
        const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        return { table, key, bytes: sealRow(table, key, value) };
      });
      if (this.#logged === undefined) await this.#commits.over();
      await (this.#logged === undefined ? this.#putAll(sealed) : this.#logged.writeBytes(sealed));
      this.#noteCommitted();
    } catch (error) {
      throw await this.#refusalOf(error);
    } finally {
      giveBack();
    }
  }

  async #putAll(rows: readonly LargeRow[]): Promise<void> {
    await settling(this.#begin(rows), () =>
      this.#root.batch(() => {
        for (const { table, key, bytes } of rows) void this.#raw(table).put(key, bytes);
      }),
    );
  }

  /** How far the log is behind this file; undefined: writes are answered after the log has them, or there is none. */
  get logLag(): LogLag | undefined {
    return this.#logged instanceof LocalLog ? this.#logged.lag : undefined;
  }

  /** Resolves when the log has everything that was committed before this call. */
  async settled(): Promise<void> {
    if (this.#logged instanceof LocalLog) await this.#logged.settled();
  }

  /** Counts and durations of the commits since the start. */
  get commits(): Pick<GroupCommit, 'counts' | 'durations'> {
    return this.#commits;
  }

  /** Whether commits reach the disk. */
  get writing(): Writing {
    const { waitingMs } = this.#commits;
    return { failedMs: this.#failedMs, waitingMs, quietMs: performance.now() - this.#committedAt };
  }

  /**
   * Checks every page of the current snapshot without LMDB. Returns one sentence for each damaged page. Reading rows of
   * a damaged file may crash the process.
   */
  damagedPages(): readonly string[] {
    const moment = this.snapshot();
    try {
      return findDamagedPages(join(this.#folder, DATA_FILE));
    } finally {
      moment.close();
    }
  }

  /** How full the file is. Costs a handful of page reads. */
  stats(): StoreStats {
    return readStats(this.#root, this.#tables);
  }

  /**
   * Bytes that may still be written, as every write is told, and the largest size of the file on an empty disk. Unused
   * pages of the file are counted only where less than `enoughShare` is free without: they cost a look at all tables.
   */
  usable(enoughShare = 1): { readonly usableBytes: number; readonly totalBytes: number } {
    const { totalBytes } = this.#space();
    return { usableBytes: this.#room.usableBytes(totalBytes * enoughShare), totalBytes };
  }

  /** Calls `listener` each time that a write finds no room, possibly within a decision. */
  onNoRoom(listener: () => void): void {
    this.#room.onRefused = listener;
  }

  /** Bytes the file can grow by, and its largest size on an empty disk: the smaller of disk and memory map. */
  #space(): { readonly freeBytes: number; readonly totalBytes: number } {
    return fileSpace(join(this.#folder, DATA_FILE), this.#mapBytes);
  }

  /** Bytes of free pages inside the file, reused before it grows. */
  #unusedBytes(): number {
    const { pagesFree, pageBytes } = this.stats();
    return pagesFree * pageBytes;
  }

  diskFreeBytes(): number {
    return freeBytes(this.#folder);
  }

  /**
   * Copies one snapshot of the file to a new file at `path`, page by page, in a separate thread. Writers wait only
   * while the two meta pages are copied. Freed pages are not reused during the copy, so the file may grow. Rejects when
   * `path` exists. The copy is not flushed.
   */
  async copyTo(path: string): Promise<void> {
    await this.#root.backup(path, false);
  }

  /**
   * Opens a snapshot of the current state, unaffected by later writes. Until it is closed, freed pages are not reused,
   * so the file may grow. `onUnreadable` receives rows that cannot be decoded; without it, reading one throws.
   */
  snapshot(onUnreadable?: OnUnreadable): Snapshot {
    this.#reads();
    return snapshotOf(this.#tables, this.#root.useReadTransaction(), onUnreadable);
  }

  /** Closes the file once the log has all of it. */
  async close(): Promise<void> {
    await this.settled();
    await this.#root.close();
  }

  async #refusalOf(error: unknown): Promise<unknown> {
    const { told, cause } = await failureOf(error, this.#folder);
    if (cause !== undefined) {
      this.#failedMs ??= Date.now();
      this.#onFailure({ cause, isFinal: hasOverrun(cause) || !this.#canRead() });
    }
    return told;
  }

  #noteCommitted(): void {
    this.#failedMs = undefined;
    this.#committedAt = performance.now();
  }

  /**
   * Tests whether the environment still works. After a failed write of a meta page LMDB starts no transaction, and the
   * library's writer hangs at the next one. The error looks like any other failure, but a new read fails too.
   */
  #canRead(): boolean {
    try {
      this.#root.resetReadTxn();
      this.#root.doesExist(['']);
      return true;
    } catch {
      // Any error means the environment is unusable.
      return false;
    }
  }

  /** Throws inside a decision, where the result would depend on which transaction is open. */
  #reads(): TableReads {
    if (this.#commits.isDeciding) throw new Error('a decision reads the store and not its batch');
    return this.#rows;
  }

  #openLocal(): Committer {
    return new LocalCommitter({ ...this.#parts(), reader: this.#rows });
  }

  #openLogged(log: RecordLog | 'later'): LoggedCommitter | LocalLog {
    const shared = { ...this.#parts(), renewReads: () => this.#root.resetReadTxn() };
    if (log !== 'later' && log.ack === 'log') return new LoggedCommitter({ ...shared, log, reads: this.#rows });
    const raw = (table: Pick<AnyTable, 'name'>) => this.#raw(table);
    return new LocalLog({ ...shared, log, reader: this.#rows, raw, putAll: (rows) => this.#putAll(rows) });
  }

  #parts() {
    return {
      transact: transactIn(this.#root, (name) => this.#raw({ name })),
      begin: (rows: readonly WrittenRow[]) => this.#begin(rows),
    };
  }

  #begin(rows: readonly WrittenRow[]): Settle {
    const settleRevisions = this.#revisions.begin(rows);
    const settleRows = this.#watchers.begin(rows);
    return (isWritten) => {
      settleRevisions();
      settleRows(isWritten);
    };
  }

  #raw(table: Pick<AnyTable, 'name'>): Raw {
    const raw = this.#tables.get(table.name);
    if (raw === undefined) throw new Error(`table ${table.name} was not opened`);
    return raw;
  }
}
