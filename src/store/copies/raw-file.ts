/** A data file as rows of bytes, without knowing its tables: for snapshots, and for records of the log. */
import type { Database } from 'lmdb';
import { type Environment, openEnvironment } from '../environment.ts';
import { type LoggedRow, viewOf } from '../rows.ts';

type RawRows = Database<Buffer, Buffer>;

export interface RawRow {
  readonly table: string;
  readonly key: Buffer;
  readonly value: Buffer;
}

export class RawFile {
  readonly #environment: Environment;
  readonly #opened = new Map<string, RawRows>();

  /** Opens or creates a data file. Check an existing one first: on a damaged file LMDB ends the process. */
  constructor(path: string, mapBytes: number, readOnly: boolean) {
    this.#environment = openEnvironment({ path, mapBytes, readOnly });
  }

  /** The names of all tables, in order. */
  get tables(): string[] {
    return [...this.#environment.getKeys()].map((key) => String(key));
  }

  /** The rows of a table, in order. */
  *rows(table: string): Generator<RawRow> {
    for (const { key, value } of this.#table(table).getRange({})) yield { table, key, value };
  }

  /** Writes rows in one commit; a row without a value is removed. Rows whose value is a part are not for this. */
  async write(rows: readonly LoggedRow[]): Promise<void> {
    for (const { table } of rows) this.#table(table);
    await this.#environment.transaction(() => {
      for (const { table, key, value } of rows) {
        if (value === undefined) this.#table(table).removeSync(Buffer.from(key));
        else this.#table(table).putSync(Buffer.from(key), viewOf(value));
      }
    });
  }

  async close(): Promise<void> {
    await this.#environment.close();
  }

  #table(name: string): RawRows {
    const found = this.#opened.get(name);
    if (found !== undefined) return found;
    const opened = this.#environment.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
    this.#opened.set(name, opened);
    return opened;
  }
}
