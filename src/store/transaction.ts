/**
 * Runs functions in the library's write transaction, without a nested one: the LMDB within lmdb 3.5.6 counts the changed
 * pages of nested transactions wrongly now and then, and overwrites memory when it merges them (DECISIONS). So nothing
 * is rolled back: what may fail must fail before the first write.
 */
import { writeSync } from 'node:fs';
import type { Database } from 'lmdb';
import { endProcess } from '../common/end-process.ts';
import { storedKey } from './rows.ts';
import type { AnyTable, Key } from './table.ts';

/** The library's handle of a table. */
export type Raw = Database<Buffer, Key>;

/** Writes a row in the transaction; without `bytes` it removes the row. */
export type PutRow = (table: Pick<AnyTable, 'name'>, key: Key, bytes: Buffer | undefined) => void;

/**
 * Runs a function in a write transaction; resolves when it is durable. A function that throws before it wrote rejects
 * this, and nothing of it is written. One that throws later ends the process before the commit, unless LMDB itself
 * refused a write: then LMDB commits nothing of the transaction.
 */
export type Transact = (run: (put: PutRow) => void) => Promise<void>;

/** Codes of LMDB for a write that it refuses and forgets: the transaction would be committed without it. */
const FORGOTTEN = new Set([
  13, // EACCES
  22, // EINVAL
  -30_781, // MDB_BAD_VALSIZE
  -30_780, // MDB_BAD_DBI
]);

/** The part of the library's environment that is needed here. Its types leave out that this gives a promise. */
interface Transactions {
  transactionAsync(run: () => void): unknown;
}

export function transactIn(root: Transactions, rawOf: (table: string) => Raw): Transact {
  return async (run) => {
    let thrown: { readonly error: unknown } | undefined;
    let hasWritten = false;
    const put: PutRow = ({ name }, key, bytes) => {
      const raw = rawOf(name);
      // Before the call: LMDB may have changed pages when it throws.
      hasWritten = true;
      if (bytes === undefined) void raw.remove(key);
      else void raw.put(key, bytes);
    };
    try {
      const committed = root.transactionAsync(() => {
        try {
          run(put);
        } catch (error) {
          thrown = { error };
          if (hasWritten && !failsCommit(error)) endHere(error, 'nothing of it is written');
        }
      });
      await (committed as Promise<void>);
    } catch (error) {
      throw thrown === undefined ? error : thrown.error;
    }
    if (thrown === undefined) return;
    // LMDB refused a write and committed the others all the same: its callers would be told that nothing is written.
    if (hasWritten) endHere(thrown.error, 'a part of it may be written');
    throw thrown.error;
  };
}

/** A copy of the stored bytes of a row: the library may use the memory of a value again. `key`: its stored form. */
export function copyOfRow(raw: Raw | undefined, key: Uint8Array): Uint8Array | undefined {
  const bytes = raw?.get(Buffer.from(key) as unknown as Key);
  return bytes && Buffer.from(bytes);
}

/** True for an error with which LMDB has marked the transaction as failed. */
function failsCommit(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'number' && !FORGOTTEN.has(code);
}

/** The library commits as soon as this turn of the event loop is over: only the end of the process keeps half of a group back. */
function endHere(error: unknown, state: string): never {
  const told = error instanceof Error ? error.stack : String(error);
  writeSync(2, `an unexpected error in a transaction; ${state}, and the process ends: ${told}\n`);
  endProcess(1);
}

/** Bytes that LMDB takes for a key with pages of 4 KiB. */
const KEY_BYTES_MAX = 1978;
/** No character of a key takes more bytes, and no other part more than a few. */
const BYTES_A_CHARACTER = 3;
const BYTES_OTHER = 12;

/** Throws for a key that the data file cannot hold: inside a transaction that would be too late. */
export function checkKey(key: Key): void {
  let bytes = 0;
  for (let index = 0; index < key.length; index += 1) {
    const part = key[index] as string | number;
    bytes += typeof part === 'string' ? part.length * BYTES_A_CHARACTER + 2 : BYTES_OTHER;
  }
  if (bytes > KEY_BYTES_MAX && storedKey(key).length > KEY_BYTES_MAX) throw new Error('a key is too long');
}
