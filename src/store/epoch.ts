/**
 * Owns the epoch of a data file: a random name for one life of it. A restored copy begins another, so that what clients
 * remember of a state that was lost with the old one (sync cursors) is told from what they may go on with.
 */
import { randomBytes } from 'node:crypto';
import { meta } from './meta.ts';
import { HUB } from './owners.ts';
import type { Store } from './store.ts';

/** The epoch in force, 16 hex characters; a new data file is given one. */
export async function openEpoch(store: Store): Promise<string> {
  return epochOf(store) ?? (await startNewEpoch(store));
}

/** The epoch in force; undefined in a file that only an earlier version wrote to. For readers. */
export function epochOf(store: Store): string | undefined {
  return store.get(meta, ['epoch'])?.value;
}

/** Ends the epoch in force and gives the new one. Two restores of one backup get different ones. */
export async function startNewEpoch(store: Store): Promise<string> {
  const value = randomBytes(8).toString('hex');
  await store.write(HUB, (batch) => batch.put(meta, ['epoch'], { value }));
  return value;
}
