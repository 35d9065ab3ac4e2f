/**
 * Finds the keys of a data file, and changes its master key. Fields are sealed under the master key. Keyed hashes use a
 * hash key, derived from the first master key. From the first `cairn rekey` on it is stored in the data file, sealed
 * under the current master key. So hashes stay valid after a rekey; they could not be recomputed, because the hashed
 * secrets are not stored.
 */

import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { KEY_FILE } from '../data-file/names.ts';
import { syncPath } from '../data-file/sync-path.ts';
import type { Batch } from '../group-commit.ts';
import { intact } from '../intact.ts';
import { type MetaRow, meta } from '../meta/meta.ts';
import { HUB } from '../owners.ts';
import { DamagedRow } from '../row-sums.ts';
import type { Store } from '../store.ts';
import type { Reader } from '../table.ts';
import { isMasterKey, putProof } from './key-check.ts';
import { loadMasterKey, readKeyFile } from './master-key.ts';
import { createSealer, hashKeyOf, type Sealer } from './seal.ts';

/** Two rows with the same value: without it no secret that is kept as a hash can be checked. */
const ROWS = ['hash_key', 'hash_key_copy'] as const;
const OWNER = 'hub';
const FIELD = 'hash key';
const HASH_KEY_BYTES = 32;
/** The new master key; exists only while the master key is being changed. */
export const NEXT_KEY_FILE = 'master.key.next';

/** The sealer of a data file under a master key. With a wrong key it opens nothing, and the proof does not match. */
export function openSealer(store: Reader, masterKey: Uint8Array): Sealer {
  // Random, never derived: the first master key derives the right hash key, so it would still work after a rekey.
  return createSealer(masterKey, hashKey(store, masterKey) ?? randomBytes(HASH_KEY_BYTES));
}

/** Stores the hash key sealed under the new master key, and the new proof. Returns the new sealer. */
export function moveHashKey(batch: Batch, from: Uint8Array, to: Uint8Array): Sealer {
  const key = hashKey(batch, from);
  if (key === undefined) throw new Error('the master key was not checked before it is changed');
  const sealer = createSealer(to, key);
  const sealed = Buffer.from(sealer.sealRandom(OWNER, FIELD, key)).toString('hex');
  for (const row of ROWS) batch.put(meta, [row], { value: sealed });
  putProof(batch, sealer);
  return sealer;
}

/**
 * The master key of a folder, like `loadMasterKey`. After an interrupted change: the old or new key, whichever the data
 * file uses.
 */
export function masterKeyOf(folder: string, setting: string | undefined, store: Reader): Uint8Array {
  const key = loadMasterKey(folder, setting);
  const next = setting === undefined ? nextKey(folder) : undefined;
  return next !== undefined && isMasterKey(store, openSealer(store, next)) ? next : key;
}

/** Ends an interrupted change of the master key: completes it when the data file has the new key, else undoes it. */
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

/** The new key; undefined when there is none, or when its file is incomplete and therefore not yet used. */
function nextKey(folder: string): Uint8Array | undefined {
  const path = join(folder, NEXT_KEY_FILE);
  const text = existsSync(path) ? readKeyFile(path) : '';
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : undefined;
}

/** Of the two rows the one that is intact. Throws StartError when both are damaged. */
function storedHashKey(store: Pick<Reader, 'get'>): MetaRow | undefined {
  const [first, copy] = ROWS;
  const row = intact(store, meta, [first]) ?? intact(store, meta, [copy]);
  if (row !== undefined) return row;
  try {
    return store.get(meta, [first]);
  } catch (error) {
    if (!(error instanceof DamagedRow)) throw error;
    throw new StartError(`${error.sentence}; it proves every key and token, so restore a backup (\`cairn restore\`).`);
  }
}

/** Writes the stored hash key where its row is damaged or, in a file of an older version, missing. */
export async function keepHashKey(store: Store): Promise<void> {
  const row = storedHashKey(store);
  if (row === undefined || ROWS.every((name) => intact(store, meta, [name]) !== undefined)) return;
  await store.write(HUB, (batch) => {
    for (const name of ROWS) batch.put(meta, [name], row);
  });
}

/** The hash key of a data file; undefined when it is stored and this master key cannot open it. */
function hashKey(store: Reader, masterKey: Uint8Array): Uint8Array | undefined {
  const row = storedHashKey(store);
  if (row === undefined) return hashKeyOf(masterKey);
  try {
    return createSealer(masterKey).openRandom(OWNER, FIELD, Buffer.from(row.value, 'hex'));
  } catch {
    // A wrong master key: checking the proof reports it.
    return undefined;
  }
}
