/** The log in tables of a PostgreSQL database: one row a record. Its primary key creates each position once. */
import { StartError } from '../../common/start-error.ts';
import {
  type CommitLog,
  type Created,
  LogGap,
  type LogRecord,
  OutcomeUnknown,
  PartMissing,
  PartTaken,
  sameBytes,
} from './log.ts';
import { type Database, openDatabase, type Query } from './postgres-database.ts';
import type { Racetrack } from './probe.ts';

/** A commit waits for ever when the standby is away, and `statement_timeout` does not end that. */
const STATEMENT_MS = 10_000;
const PIECE_BYTES = 1024 * 1024;
/** Records a query returns: each may have 8 MiB. */
const PAGE = 16;

const TABLES = `
create table if not exists cairn_log (
  cell text not null, position bigint not null, bytes bytea not null, primary key (cell, position));
create table if not exists cairn_log_parts (
  cell text not null, name text collate "C" not null, piece int not null, bytes bytea not null,
  primary key (cell, name, piece));
create table if not exists cairn_log_settled (cell text primary key, settled_at timestamptz not null);
alter table cairn_log alter column bytes set storage external;
alter table cairn_log_parts alter column bytes set storage external;`;

/**
 * The condition on the record before makes a removed position fail as well: its predecessor is gone too. Position 1 can
 * only begin a log.
 */
const INSERT = `
insert into cairn_log (cell, position, bytes) select $1, $2::bigint, $3
where exists (select from cairn_log where cell = $1 and position = $2::bigint - 1)
   or ($2::bigint = 1 and not exists (select from cairn_log where cell = $1))
on conflict do nothing`;

export class PostgresLog implements CommitLog, Racetrack {
  readonly #database: Database;
  readonly #cell: string;

  private constructor(database: Database, cell: string) {
    this.#database = database;
    this.#cell = cell;
  }

  /**
   * Connects, and makes the tables if there are none. `url`: `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE`; the
   * parameter `cell` names the log when a database has several. Throws StartError.
   * @param statementMs how long one statement may take
   */
  static async open(url: string, statementMs = STATEMENT_MS): Promise<PostgresLog> {
    const { database, cell } = openDatabase(url, statementMs);
    try {
      await database.run(async (query) => {
        const [found] = await query("select to_regclass('cairn_log_settled') is not null as exists");
        // Two members that start at once: one lock for both.
        if (found?.['exists'] !== true) {
          await query('begin');
          await query('select pg_advisory_xact_lock(7234102)');
          await query(TABLES);
          await query('commit');
        }
      });
    } catch (error) {
      await database.close();
      throw new StartError(`The log at ${database.shown} does not work: ${(error as Error).message}.`, {
        cause: error,
      });
    }
    return new PostgresLog(database, cell);
  }

  get shown(): string {
    return this.#database.shown;
  }

  async append(position: number, record: Uint8Array): Promise<Created> {
    try {
      return await this.#database.run((query) => this.#insert(query, position, record));
    } catch (error) {
      throw new OutcomeUnknown(`the log did not answer whether record ${position} is written`, { cause: error });
    }
  }

  async *read(from: number): AsyncGenerator<LogRecord> {
    let durable = 0;
    for (let next = from; ; ) {
      const rows = await this.#query(
        'select position, bytes from cairn_log where cell = $1 and position >= $2 order by position limit $3',
        [this.#cell, next, PAGE],
      );
      if (Number(rows.at(-1)?.['position'] ?? 0) > durable) durable = (await this.ends())?.last ?? 0;
      for (const row of rows) {
        const position = Number(row['position']);
        if (position !== next) throw new LogGap(next, position);
        yield { position, bytes: row['bytes'] as Uint8Array };
        next += 1;
      }
      if (rows.length < PAGE) return;
    }
  }

  async ends(): Promise<{ first: number; last: number } | undefined> {
    return await this.#database.run((query) => this.#settle(query));
  }

  async putPart(name: string, bytes: Uint8Array): Promise<void> {
    await this.#database.run(async (query) => {
      const pieces = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES));
      await query('begin');
      for (let piece = 0; piece < pieces; piece += 1) {
        const part = bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
        const text =
          'insert into cairn_log_parts (cell, name, piece, bytes) values ($1, $2, $3, $4) on conflict do nothing';
        const values = [this.#cell, name, piece, part];
        if ((await query.count(text, values)) === 1) continue;
        await query('rollback');
        const found = await this.#part(query, name);
        // What was there a moment ago was not committed: a repeated statement met its own row. Nobody has other bytes.
        if (found === undefined) throw new Error(`the database says that ${name} exists but does not return it`);
        if (!sameBytes(found, bytes)) throw new PartTaken(name);
        await this.#settle(query);
        return;
      }
      await query('commit');
    });
  }

  async getPart(name: string): Promise<Uint8Array> {
    const bytes = await this.#database.run((query) => this.#part(query, name));
    if (bytes === undefined) throw new PartMissing(name);
    return bytes;
  }

  async listParts(prefix: string): Promise<string[]> {
    const text =
      'select name from cairn_log_parts where cell = $1 and piece = 0 and starts_with(name, $2) order by name';
    const rows = await this.#query(text, [this.#cell, prefix]);
    return rows.map((row) => String(row['name']));
  }

  async removePart(name: string): Promise<void> {
    await this.#query('delete from cairn_log_parts where cell = $1 and name = $2', [this.#cell, name]);
  }

  async removeBefore(position: number): Promise<void> {
    const newest = '(select max(position) from cairn_log where cell = $1)';
    const text = `delete from cairn_log where cell = $1 and position < least($2::bigint, ${newest})`;
    await this.#query(text, [this.#cell, position]);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async create(name: string, bytes: Uint8Array): Promise<Created> {
    const values = [`${this.#cell}/${name}`, 1, bytes];
    return (await this.#database.run((query) => query.count(INSERT, values))) === 1 ? 'written' : 'taken';
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#query('select bytes from cairn_log where cell = $1', [`${this.#cell}/${name}`]);
    return row?.['bytes'] as Uint8Array | undefined;
  }

  async remove(name: string): Promise<void> {
    await this.#query('delete from cairn_log where cell = $1', [`${this.#cell}/${name}`]);
  }

  async #insert(query: Query, position: number, record: Uint8Array): Promise<Created> {
    if ((await query.count(INSERT, [this.#cell, position, record])) === 1) return 'written';
    const text = `select position, bytes from cairn_log where cell = $1 and position >= $2 order by position limit 1`;
    const [row] = await query(text, [this.#cell, position]);
    if (row === undefined) throw new Error(`the log ends before record ${position - 1}`);
    await this.#settle(query);
    return Number(row['position']) === position && sameBytes(row['bytes'] as Uint8Array, record) ? 'written' : 'taken';
  }

  /**
   * Waits until what this database shows is durable, and tells the ends of the log at its start. A commit whose wait for
   * the standby was cancelled is visible, and may be here alone. So may what a former primary has. A later commit that the
   * standby acknowledged carries all before it.
   */
  async #settle(query: Query): Promise<{ first: number; last: number } | undefined> {
    const end = (which: string) => `(select ${which}(position) from cairn_log where cell = $1)`;
    const text = `insert into cairn_log_settled (cell, settled_at) values ($1, now())
      on conflict (cell) do update set settled_at = excluded.settled_at
      returning ${end('min')} as first, ${end('max')} as last`;
    const [row] = await query(text, [this.#cell]);
    return row?.['first'] == null ? undefined : { first: Number(row['first']), last: Number(row['last']) };
  }

  async #part(query: Query, name: string): Promise<Uint8Array | undefined> {
    const text = 'select bytes from cairn_log_parts where cell = $1 and name = $2 order by piece';
    const rows = await query(text, [this.#cell, name]);
    return rows.length === 0 ? undefined : Buffer.concat(rows.map((row) => row['bytes'] as Uint8Array));
  }

  #query(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#database.run((query) => query(text, values));
  }
}

type Row = Record<string, unknown>;
