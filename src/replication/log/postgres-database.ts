/** Connections to a PostgreSQL server that may change its address: one of several hosts is the primary. */
import pg from 'pg';
import { StartError } from '../../common/start-error.ts';

type Row = Record<string, unknown>;

/** Runs one statement. Rejects on an error, and on any notice: one at a commit says that it may not be durable. */
export interface Query {
  (text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the number of rows that the statement changed. */
  count(text: string, values?: readonly unknown[]): Promise<number>;
}

export interface Database {
  /** The URL without its password. */
  readonly shown: string;
  /** Runs statements on one connection. A connection with an error is never used again. */
  run<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const CONNECT_MS = 5000;
const CONNECTIONS = 4;
const FORM = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]+)(\/[^?#]+)(\?[^#]*)?$/;

/** Opens no connection yet. Throws StartError when the URL has another form. */
export function openDatabase(url: string, statementMs: number): { readonly database: Database; readonly cell: string } {
  const [, scheme, credentials = '', hosts, path, query = ''] = FORM.exec(url) ?? [];
  if (scheme === undefined || hosts === undefined || path === undefined) {
    throw new StartError('CAIRN_LOG must have the form postgres://USER:PASSWORD@HOST:PORT/DATABASE.');
  }
  const parameters = new URLSearchParams(query);
  const cell = parameters.get('cell') ?? '1';
  parameters.delete('cell');
  const shown = `postgres://${hosts}${path}`;
  const pools = hosts
    .split(',')
    .map((host) => poolOf(`${scheme}${credentials}${host}${path}?${parameters}`, statementMs));
  return { database: new HostList(pools, shown), cell };
}

function poolOf(connectionString: string, statementMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: statementMs,
    keepAlive: true,
    application_name: 'cairn',
    options: sessionOptions(statementMs),
  });
  // The pool replaces a broken connection at its next use, and the running statement is rejected. Without these two
  // listeners, the library throws an uncaught error, which ends the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** What the server is told of each session. */
function sessionOptions(statementMs: number): string {
  const settings = [
    // Acknowledged means flushed, here and on the standby, whatever the default of the server is.
    'synchronous_commit=on',
    'client_min_messages=warning',
    // While a standby is away, a commit waits with its locks, and must not be ended. A session that waits for those locks
    // gives up with its client: repeated attempts would otherwise take every connection of the server.
    `lock_timeout=${statementMs}`,
    // A member that vanished with its machine keeps no session, and no transaction, for hours.
    'tcp_keepalives_idle=10',
    'tcp_keepalives_interval=5',
    'tcp_keepalives_count=3',
    'idle_in_transaction_session_timeout=60000',
  ];
  return settings.map((setting) => `-c ${setting}`).join(' ');
}

class HostList implements Database {
  readonly shown: string;
  readonly #pools: readonly pg.Pool[];
  #current = 0;

  constructor(pools: readonly pg.Pool[], shown: string) {
    this.#pools = pools;
    this.shown = shown;
  }

  async run<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let notice: Error | undefined;
    const note = ({ message }: { readonly message?: string | undefined }) => {
      notice ??= new Error(`the database warned: ${message}`);
    };
    client.on('notice', note);
    const run = async (text: string, values: readonly unknown[] = []) => {
      const result = await client.query<Row>(text, [...values]);
      if (notice !== undefined) throw notice;
      return result;
    };
    const query: Query = Object.assign(
      async (text: string, values?: readonly unknown[]) => (await run(text, values)).rows,
      {
        count: async (text: string, values?: readonly unknown[]) => (await run(text, values)).rowCount ?? 0,
      },
    );
    try {
      const result = await work(query);
      client.removeListener('notice', note);
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      // A former primary that was not stopped accepts connections, and its commits never end.
      this.#current = (this.#current + 1) % this.#pools.length;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.end()));
  }

  /** A connection to the host that is the primary. Tries each host once. */
  async #connect(): Promise<pg.PoolClient> {
    const failures: string[] = [];
    for (let tried = 0; tried < this.#pools.length; tried += 1) {
      const at = (this.#current + tried) % this.#pools.length;
      try {
        const client = await primaryOf(this.#pools[at] as pg.Pool);
        this.#current = at;
        return client;
      } catch (error) {
        failures.push(reasonOf(error));
      }
    }
    throw new Error(failures.join('; '));
  }
}

/** Connections that were found to lead to a primary. One that becomes a standby restarts, and its connections break. */
const primaries = new WeakSet<pg.PoolClient>();

async function primaryOf(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  if (primaries.has(client)) return client;
  try {
    const { rows } = await client.query<Row>('select pg_is_in_recovery() as standby');
    if (rows[0]?.['standby'] === true) throw new Error('this server is a standby');
    primaries.add(client);
    return client;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message === '' ? String(code) : message;
}
