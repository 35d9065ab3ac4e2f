/** The data file of a member that follows: it takes rows as the log has them, and serves nobody. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { limits } from '../../limits/service.ts';
import { checkAddressSpace } from '../data-file/address-space.ts';
import { checkDataFile } from '../data-file/check.ts';
import { DATA_FILE } from '../data-file/names.ts';
import { syncPath } from '../data-file/sync-path.ts';
import { type Environment, openEnvironment, openTable } from '../environment.ts';
import { failureOf, fileSpace, hasOverrun } from '../failure.ts';
import { Room } from '../room.ts';
import { storedKey, viewOf } from '../rows.ts';
import { readStats } from '../stats.ts';
import type { Key, Reader } from '../table.ts';
import { TableReads } from '../table-reads.ts';
import { copyOfRow, type Raw, type Transact, transactIn } from '../transaction.ts';
import { type LogPlace, placeOfFile, placeRow, replicationTables } from './place.ts';
import {
  oldestUnlogged,
  type UnloggedGroup,
  type UnloggedRow,
  unloggedCommits,
  unloggedSpan,
  unloggedThrough,
} from './unlogged.ts';

/** A row with its value in memory; without one it is removed. */
export interface StoredRow {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value?: Uint8Array | undefined;
}

export class ReplicaFile {
  readonly #folder: string;
  readonly #root: Environment;
  readonly #tables = new Map<string, Raw>();
  readonly #reads: TableReads;
  readonly #transact: Transact;
  readonly #room: Room;

  /** Opens or creates the data file of a folder. Throws StartError. */
  constructor({ folder, mapBytes }: { readonly folder: string; readonly mapBytes: number }) {
    this.#folder = folder;
    const path = join(folder, DATA_FILE);
    if (existsSync(path)) checkDataFile(path, mapBytes);
    checkAddressSpace(mapBytes);
    this.#root = openEnvironment({ path, mapBytes, readOnly: false });
    for (const name of [...this.#root.getKeys()].map(String)) this.#open(name);
    for (const { name } of replicationTables) this.#open(name);
    syncPath(folder);
    this.#room = new Room({
      freeBytes: () => fileSpace(path, mapBytes).freeBytes,
      unusedBytes: () => {
        const { pagesFree, pageBytes } = readStats(this.#root, this.#tables);
        return pagesFree * pageBytes;
      },
      elapsed: () => performance.now(),
    });
    this.#reads = new TableReads(this.#tables);
    this.#transact = transactIn(this.#root, (table) => this.#raw(table));
  }

  /** Reads the newest applied state. */
  get reader(): Reader {
    return this.#reads;
  }

  /** The newest applied record; undefined: this file has none. */
  get place(): LogPlace | undefined {
    this.#root.resetReadTxn();
    return placeOfFile(this.#reads);
  }

  /** Whether a hub that opens this file can write the largest record of a log; its writes leave the reserve of the disk. */
  get hasRoom(): boolean {
    return this.#room.usableBytes(limits.logGroupBytesMax) >= limits.logGroupBytesMax;
  }

  /** Names of the tables, in order. */
  get tables(): string[] {
    return [...this.#tables.keys()].toSorted((one, other) => (one < other ? -1 : 1));
  }

  /**
   * Puts rows and the place that they lead to, in one commit. Resolves when it is on disk. Throws Refusal `storage_full`
   * or `storage_failed` when it cannot be, StartError when this process can no longer write.
   */
  async apply(rows: readonly StoredRow[], place: LogPlace): Promise<void> {
    try {
      await this.#put(rows, place);
    } catch (error) {
      const { told, cause } = await failureOf(error, this.#folder);
      if (cause !== undefined && hasOverrun(cause))
        throw new StartError('the data file cannot be written; check the disk, then start this member again.');
      throw told;
    }
  }

  async #put(rows: readonly StoredRow[], place: LogPlace): Promise<void> {
    for (const { table } of rows) if (!this.#tables.has(table)) this.#open(table);
    const ends = placeRow(place);
    await this.#transact((put) => {
      for (const { table, key, value } of rows) {
        // The library stores the bytes of a key as they are.
        put({ name: table }, Buffer.from(key) as unknown as Key, value && viewOf(value));
      }
      put(ends.table, ends.key, ends.bytes);
    });
    this.#root.resetReadTxn();
  }

  /** The commits of this file that the log may lack; undefined: there are none. */
  get unlogged(): { readonly first: number; readonly last: number } | undefined {
    this.#root.resetReadTxn();
    return unloggedSpan(this.#reads);
  }

  /** The oldest of them, as one record of at most this many bytes takes them. */
  oldestUnlogged(bytesMax: number): UnloggedGroup | undefined {
    this.#root.resetReadTxn();
    const storedOf = ({ table, key }: UnloggedRow) => {
      const value = this.valueOf(table, key);
      return value && { value };
    };
    return oldestUnlogged(this.#reads, storedOf, { last: Number.POSITIVE_INFINITY, bytesMax });
  }

  /** Notes that the log has the commits up to a number, in the record of this place. */
  async confirm(through: number, place: LogPlace): Promise<void> {
    const rows = unloggedThrough(this.#reads, through).map((key) => {
      return { table: unloggedCommits.name, key: storedKey(key) };
    });
    await this.apply(rows, place);
  }

  /** A copy of the stored bytes of a row. */
  valueOf(table: string, key: Uint8Array): Uint8Array | undefined {
    return copyOfRow(this.#tables.get(table), key);
  }

  /** The rows of a table as stored, in order, of one moment. */
  *rows(table: string): Generator<StoredRow> {
    const raw = this.#raw(table);
    for (const { key, value } of raw.getRange({})) {
      yield { table, key: storedKey(Array.isArray(key) ? key : [key]), value };
    }
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  #open(name: string): void {
    this.#tables.set(name, openTable(this.#root, name) as Raw);
  }

  #raw(table: string): Raw {
    const raw = this.#tables.get(table);
    if (raw === undefined) throw new Error(`table ${table} was not opened`);
    return raw;
  }
}
