/** Checks that a data file belongs to a master key, with a stored proof: a known value hashed under the key. */
import { StartError } from '../../common/start-error.ts';
import type { Batch } from '../group-commit.ts';
import { intact } from '../intact.ts';
import { meta } from '../meta/meta.ts';
import { HUB } from '../owners.ts';
import type { Store } from '../store.ts';
import type { Reader } from '../table.ts';
import type { Sealer } from './seal.ts';

const ROW = 'key_check';

/** What is wrong with a data folder whose key is not the one of its data file, and what to do. */
export const WRONG_KEY = 'the data was written under another master key; set CAIRN_MASTER_KEY or restore master.key.';

/**
 * Writes the proof into a new data file, and over a damaged one; checks it in an existing one. Throws StartError when the
 * key differs.
 */
export async function checkMasterKey(store: Store, sealer: Sealer): Promise<void> {
  const kept = intact(store, meta, [ROW]);
  if (kept === undefined) await store.write(HUB, (batch) => putProof(batch, sealer));
  else if (kept.value !== proofOf(sealer)) throw new StartError(WRONG_KEY);
}

export function putProof(batch: Batch, sealer: Sealer): void {
  batch.put(meta, [ROW], { value: proofOf(sealer) });
}

const proofOf = (sealer: Sealer): string => sealer.keyedHash('key-check', 'cairn');

/** Checks the proof without writing: false when the key differs; true when there is no proof yet. */
export function isMasterKey(store: Reader, sealer: Sealer): boolean {
  const kept = store.get(meta, [ROW]);
  return kept === undefined || kept.value === proofOf(sealer);
}
