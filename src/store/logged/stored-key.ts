/** The stored form of keys: the bytes by which the data file orders rows. */
import * as lmdb from 'lmdb';
import type { Key } from '../table.ts';

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
