/**
 * Owns which keys a data file is read with. Fields are sealed under the master key. Keyed hashes are made with a hash key: it is
 * derived from the first master key, and since the first `cairn rekey` it stands in the data file, sealed under the master key
 * of now. So hashes outlive a change of the master key, which could not be made again: what was hashed is not known here.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath } from '../data-file/sync-path.ts';
import type { Batch } from '../group-commit.ts';
import { meta } from '../meta.ts';
import type { Reader } from '../table.ts';
import { isMasterKey, putProof } from './key-check.ts';
import { KEY_FILE, loadMasterKey } from './master-key.ts';
import { createSealer, hashKeyOf, type Sealer } from './seal.ts';

const ROW = 'hash_key';
const OWNER = 'hub';
const FIELD = 'hash key';
const HASH_KEY_BYTES = 32;
/** The key that a change of the master key goes over to; stands while one is under way. */
export const NEXT_KEY_FILE = 'master.key.next';

/** The sealer of a data file under a master key. With another key than its own it opens nothing and proves nothing. */
export function openSealer(store: Reader, masterKey: Uint8Array): Sealer {
  // The first master key gives the right hash key for ever, so a key that does not open the row must not derive one.
  return createSealer(masterKey, hashKey(store, masterKey) ?? randomBytes(HASH_KEY_BYTES));
}

/** Writes down the hash key of the old master key under the new one, and the proof of it. Returns the sealer to go on with. */
export function moveHashKey(batch: Batch, from: Uint8Array, to: Uint8Array): Sealer {
  const key = hashKey(batch, from);
  if (key === undefined) throw new Error('the master key was not checked before it is changed');
  const sealer = createSealer(to, key);
  const sealed = Buffer.from(sealer.sealRandom(OWNER, FIELD, key)).toString('hex');
  batch.put(meta, [ROW], { value: sealed });
  putProof(batch, sealer);
  return sealer;
}

/**
 * The master key of a folder, as `loadMasterKey`. Where a change of it was cut off, the one of both that the data file was
 * last written under.
 */
export function masterKeyOf(folder: string, setting: string | undefined, store: Reader): Uint8Array {
  const key = loadMasterKey(folder, setting);
  const next = setting === undefined ? nextKey(folder) : undefined;
  return next !== undefined && isMasterKey(store, openSealer(store, next)) ? next : key;
}

/** Ends a change of the master key that was cut off: forward when the data file has the new key, else back. */
export function settleKey(folder: string, store: Reader): void {
  const next = nextKey(folder);
  if (next === undefined) {
    rmSync(join(folder, NEXT_KEY_FILE), { force: true });
    return;
  }
  if (isMasterKey(store, openSealer(store, next))) renameSync(join(folder, NEXT_KEY_FILE), join(folder, KEY_FILE));
  else rmSync(join(folder, NEXT_KEY_FILE));
  syncPath(folder);
}

/** Undefined when there is none, or when it was cut off while it was written: nothing uses it then. */
function nextKey(folder: string): Uint8Array | undefined {
  const path = join(folder, NEXT_KEY_FILE);
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : undefined;
}

/** The hash key of a data file; undefined: it stands there, and this master key does not open it. */
function hashKey(store: Reader, masterKey: Uint8Array): Uint8Array | undefined {
  const row = store.get(meta, [ROW]);
  if (row === undefined) return hashKeyOf(masterKey);
  try {
    return createSealer(masterKey).openRandom(OWNER, FIELD, Buffer.from(row.value, 'hex'));
  } catch {
    // The proof of the key tells so to whoever asks.
    return undefined;
  }
}
