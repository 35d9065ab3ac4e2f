/** Rows as the data file holds them, outside of any table's types: the bytes by which it orders them, and their values. */
import * as lmdb from 'lmdb';
import type { Key } from './table.ts';

// The library exports both, and its types leave them out.
const { keyValueToBuffer, bufferToKeyValue } = lmdb as unknown as {
  readonly keyValueToBuffer: (key: Key) => Buffer;
  readonly bufferToKeyValue: (bytes: Uint8Array) => Key | Key[number];
};

/** The bytes of a key. They are never written again. */
export const storedKey = (key: Key): Buffer => keyValueToBuffer(key);

/** The parts of a stored key. */
export function partsOfKey(bytes: Uint8Array): Key {
  // The library reads beyond the end of a view; a copy ends where its key ends.
  const key = bufferToKeyValue(Buffer.from(bytes));
  return Array.isArray(key) ? key : [key];
}

/** The same bytes as a buffer, which the library asks for. */
export const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A value that is kept beside the log, under a name that is never used again. */
export interface RowPart {
  readonly name: string;
  /** In hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * One row that a commit writes: the stored bytes of its key, and its value, checksum included, or the part that holds
 * the value. With neither the row is removed. Of two writes of one key in a record the later one counts.
 */
export interface LoggedRow {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value?: Uint8Array | undefined;
  readonly part?: RowPart | undefined;
}
