/**
 * Owns the epoch of a data file: a random name for one life of it. A restored copy begins another, so that what clients
 * remember of a state that was lost with the old one (sync cursors) is told from what they may go on with.
 */
import { randomBytes } from 'node:crypto';
import { meta } from './meta.ts';
import type { Store } from './store.ts';

/** The epoch in force, 16 hex characters; a new data file is given one. */
export async function openEpoch(store: Store): Promise<string> {
  const kept = store.get(meta, ['epoch']);
  if (kept !== undefined) return kept.value;
  const value = randomBytes(8).toString('hex');
  await store.write((batch) => batch.put(meta, ['epoch'], { value }));
  return value;
}
