/**
 * Reads and renews the epoch of a data file: a random id, replaced by every restore. Clients compare it to detect that
 * the state they remember (sync cursors) was lost with the old file.
 */
import { randomBytes } from 'node:crypto';
import { intact } from '../intact.ts';
import type { StoredRow } from '../logged/replica.ts';
import { HUB } from '../owners.ts';
import { sealRow } from '../row-sums.ts';
import { storedKey } from '../rows.ts';
import type { Store } from '../store.ts';
import { meta } from './meta.ts';

/** The current epoch, 16 hex characters. Creates one in a new data file, and in place of a damaged one: clients start over. */
export async function openEpoch(store: Store): Promise<string> {
  return epochOf(store) ?? (await startNewEpoch(store));
}

/** The current epoch; undefined in a file written only by an earlier version. For readers. */
export function epochOf(store: Store): string | undefined {
  return intact(store, meta, ['epoch'])?.value;
}

/** The stored form of a new epoch, for a record of the log. */
export function newEpochRow(): StoredRow {
  const key: [string] = ['epoch'];
  const value = meta.codec.encode({ value: randomBytes(8).toString('hex') });
  return { table: meta.name, key: storedKey(key), value: sealRow(meta, key, value) };
}

/** Replaces the current epoch and returns the new one. Two restores of one backup get different epochs. */
export async function startNewEpoch(store: Store): Promise<string> {
  const value = randomBytes(8).toString('hex');
  await store.write(HUB, (batch) => batch.put(meta, ['epoch'], { value }));
  return value;
}
