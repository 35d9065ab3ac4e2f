/** Owns the LMDB environment: one data file, its tables, snapshot reads, and the two ways to write. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../limits/service.ts';
import { Revisions } from './changes/revisions.ts';
import { type RowWatcher, RowWatchers, type WrittenRow } from './changes/row-watch.ts';
import { checkAddressSpace } from './data-file/address-space.ts';
import { checkDataFile, findDamagedPages } from './data-file/check.ts';
import { DATA_FILE } from './data-file/name.ts';
import { syncPath } from './data-file/sync-path.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { diskBytes, failureOf, freeBytes, hasOverrun } from './failure.ts';
import { type Decision, GroupCommit, type Raw } from './group-commit.ts';
import { checkOwner, STAGING, type Writer } from './owners.ts';
import { Room } from './room.ts';
import { readStats, type StoreStats } from './stats.ts';
import type { AnyTable, Entry, Key, RangeQuery, Reader, Snapshot, Table } from './table.ts';
import { snapshotOf, TableReads } from './table-reads.ts';

export interface StoreOptions {
  readonly folder: string;
  readonly tables: readonly AnyTable[];
  readonly readOnly?: boolean;
  /** Of the thread that commits, when this one only reads: `Store.sharedRevisions` there. */
  readonly revisions?: SharedArrayBuffer;
  /** Address space of the memory map. */
  readonly mapBytes?: number;
  /** Hears of each commit that the disk refused, before those who wait for it do. */
  readonly onFailure?: (failure: DiskFailure) => void;
}

export interface DiskFailure {
  /** What the system said. */
  readonly cause: unknown;
  /** Whether this process can neither read nor write the file any more, which another one can. */
  readonly isFinal: boolean;
}

export class Store implements Reader {
  readonly #folder: string;
  readonly #onFailure: (failure: DiskFailure) => void;
  readonly #root: Environment;
  readonly #tables = new Map<string, Raw>();
  readonly #rows: TableReads;
  readonly #commits: GroupCommit;
  readonly #revisions: Revisions;
  /** Another thread commits. */
  readonly #follows: boolean;
  /** How many commits were over when reads last began anew. */
  #seenOver = 0;
  readonly #watchers = new RowWatchers();
  readonly #room: Room;
  readonly #mapBytes: number;

  /** Opens or makes the data file. Throws StartError when LMDB could not, and what the system reports for the folder. */
  constructor(options: StoreOptions) {
    this.#folder = options.folder;
    this.#revisions = new Revisions(options.tables, options.revisions);
    this.#follows = options.revisions !== undefined;
    const path = join(options.folder, DATA_FILE);
    const { mapBytes = limits.mapBytes } = options;
    if (existsSync(path)) checkDataFile(path, mapBytes);
    checkAddressSpace(mapBytes);
    this.#onFailure = options.onFailure ?? (() => undefined);
    const { readOnly = false } = options;
    this.#root = openEnvironment({ path, mapBytes, readOnly });
    for (const table of options.tables) {
      const raw = this.#root.openDB({ name: table.name, encoding: 'binary', keyEncoding: 'ordered-binary' });
      // Read-only on a file that never held this table: it stays unopened and reads as empty.
      if (raw) this.#tables.set(table.name, raw as Raw);
    }
    // The new data file's name must survive a power cut as well as its pages do.
    if (!readOnly) syncPath(options.folder);
    this.#mapBytes = mapBytes;
    this.#room = new Room({ freeBytes: () => this.space().freeBytes, unusedBytes: () => this.unusedBytes() });
    this.#rows = new TableReads(this.#tables);
    this.#commits = new GroupCommit({
      // As a child transaction a group that breaks half-way is undone whole.
      transact: (run) => this.#root.childTransaction(run),
      reader: this.#rows,
      raw: (table) => this.#raw(table),
      begin: (rows) => this.#begin(rows),
      look: () => this.#room.look(),
      refusalOf: (error) => this.#refusalOf(error),
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
   * A number that stays the same while nothing of these tables changes, or nothing of an owner's rows (those whose key begins
   * with it); undefined while a write to one is under way. What is read after this call is as new as the number.
   */
  revision(tables: readonly AnyTable[], owner?: string): number | undefined {
    if (this.#commits.isDeciding) throw new Error('a decision reads the store and not its batch');
    const revision = this.#revisions.of(tables, owner);
    if (this.#follows && this.#revisions.over !== this.#seenOver) this.renew();
    return revision;
  }

  /**
   * From now on reads of this thread show all commits that were answered, those of other threads too: a thread is otherwise
   * shown the last commit that it happened to look at (3 to 5 of 2,000 reads were too old).
   */
  renew(): void {
    if (!this.#follows) return;
    // In this order: a commit that ends in between is looked at again.
    this.#seenOver = this.#revisions.over;
    this.#root.resetReadTxn();
  }

  /** What a thread that only reads is given, so that it learns of commits: `StoreOptions.revisions`. */
  get sharedRevisions(): SharedArrayBuffer {
    return this.#revisions.shared;
  }

  /**
   * The revision that rows of an owner are remembered by, in the turn in which they were read. Where this thread commits, the
   * watchers of rows know better, so that it is always the same. Undefined: they may be older or newer than the number.
   */
  rowsRevision(table: AnyTable, owner: string): number | undefined {
    if (!this.#follows) return 0;
    return this.#revisions.over === this.#seenOver ? this.#revisions.of([table], owner) : undefined;
  }

  /** From now on tells of each row of a table that a commit writes. */
  watch(table: AnyTable, watcher: RowWatcher): void {
    this.#watchers.watch(table, watcher);
  }

  /**
   * Runs a decision of a writer in the next group commit and resolves with its result once that commit is on disk.
   * Rejects with what the decision threw, or with a storage refusal when the commit failed.
   */
  write<T>(writer: Writer, decide: Decision<T>): Promise<T> {
    return this.#follows ? Promise.reject(new Error('this thread only reads')) : this.#commits.write(writer, decide);
  }

  /**
   * Writes bytes from the store's own thread, together with small rows that must land with them.
   * The buffers belong to the store until the promise settles; it resolves when they are on disk.
   */
  async writeBytes(
    rows: readonly { readonly table: AnyTable; readonly key: Key; readonly bytes: Uint8Array }[],
  ): Promise<void> {
    for (const { table, key, bytes } of rows) checkOwner(STAGING, table, key, bytes, () => undefined);
    const giveBack = this.#room.take(rows.reduce((sum, { bytes }) => sum + bytes.length, 0));
    const settle = this.#begin(rows.map(({ table, key }) => ({ table: table.name, key })));
    try {
      await this.#root.batch(() => {
        for (const row of rows) {
          void this.#raw(row.table).put(
            row.key,
            Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength),
          );
        }
      });
    } catch (error) {
      throw await this.#refusalOf(error);
    } finally {
      settle();
      giveBack();
    }
  }

  /** What was committed since the start. */
  get commits(): Pick<GroupCommit, 'counts' | 'durations'> {
    return this.#commits;
  }

  /**
   * Walks every page of the file as this moment has it, without LMDB. Returns one sentence for each damaged page; a walk
   * of rows over such a file may end the process.
   */
  damagedPages(): readonly string[] {
    const moment = this.snapshot();
    try {
      return findDamagedPages(join(this.#folder, DATA_FILE));
    } finally {
      moment.close();
    }
  }

  /** How full the file is: a handful of page reads. */
  stats(): StoreStats {
    return readStats(this.#root, this.#tables);
  }

  /** By how much the file can grow, and how large it could be on an empty disk: the less of the disk and the memory map. */
  space(): { readonly freeBytes: number; readonly totalBytes: number } {
    const fileBytes = statSync(join(this.#folder, DATA_FILE)).size;
    const disk = diskBytes(this.#folder);
    return {
      freeBytes: Math.min(disk.free, this.#mapBytes - fileBytes),
      totalBytes: Math.min(disk.total, this.#mapBytes),
    };
  }

  /** Bytes inside the file that hold nothing, and are written again before it grows. */
  unusedBytes(): number {
    const { pagesFree, pageBytes } = this.stats();
    return pagesFree * pageBytes;
  }

  /** What is left on the disk of the data file. */
  diskFreeBytes(): number {
    return freeBytes(this.#folder);
  }

  /**
   * Copies one snapshot of the file to a new file at `path`, page by page, from a thread of its own. Writers wait while its
   * two meta pages are copied and go on then; meanwhile no freed page is written again, so the file may grow.
   * Rejects when `path` exists. The copy is not flushed.
   */
  async copyTo(path: string): Promise<void> {
    await this.#root.backup(path, false);
  }

  /**
   * Holds the current state for reading, whatever is written meanwhile. Until it is let go of no freed page is written
   * again, so the file may grow.
   */
  snapshot(): Snapshot {
    this.#reads();
    return snapshotOf(this.#tables, this.#root.useReadTransaction());
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  async #refusalOf(error: unknown): Promise<unknown> {
    const { told, cause } = await failureOf(error, this.#folder);
    if (cause !== undefined) this.#onFailure({ cause, isFinal: hasOverrun(cause) || !this.#canRead() });
    return told;
  }

  /**
   * LMDB gives an environment up when one of its meta pages could not be written: no transaction begins any more, and the
   * library's writer hangs at the next one. Its error does not tell that from other failures, but a new read does.
   */
  #canRead(): boolean {
    try {
      this.#root.resetReadTxn();
      this.#root.doesExist(['']);
      return true;
    } catch {
      // Whatever it says, it is the answer.
      return false;
    }
  }

  /** Outside a decision: in one, what the store shows depends on the transaction that happens to be open. */
  #reads(): TableReads {
    if (this.#commits.isDeciding) throw new Error('a decision reads the store and not its batch');
    return this.#rows;
  }

  /** Must be called before what was written can be seen. Returns what to call when that is settled. */
  #begin(rows: readonly WrittenRow[]): () => void {
    const settleRevisions = this.#revisions.begin(rows);
    const settleRows = this.#watchers.begin(rows);
    return () => {
      settleRevisions();
      settleRows();
    };
  }

  #raw(table: AnyTable): Raw {
    const raw = this.#tables.get(table.name);
    if (raw === undefined) throw new Error(`table ${table.name} was not opened`);
    return raw;
  }
}
