/** Owns the proof that a data file belongs to the master key at hand: a known value, hashed under it. */
import { StartError } from '../../common/start-error.ts';
import type { Batch } from '../group-commit.ts';
import { meta } from '../meta.ts';
import { HUB } from '../owners.ts';
import type { Store } from '../store.ts';
import type { Reader } from '../table.ts';
import type { Sealer } from './seal.ts';

const ROW = 'key_check';

/** Writes the proof into a new data file, checks it in an old one. Throws StartError when the key is another. */
export async function checkMasterKey(store: Store, sealer: Sealer): Promise<void> {
  const kept = store.get(meta, [ROW]);
  if (kept === undefined) await store.write(HUB, (batch) => putProof(batch, sealer));
  else if (kept.value !== proofOf(sealer)) throw wrongKey();
}

/** Writes the proof that the data belongs to this key. */
export function putProof(batch: Batch, sealer: Sealer): void {
  batch.put(meta, [ROW], { value: proofOf(sealer) });
}

const proofOf = (sealer: Sealer): string => sealer.keyedHash('key-check', 'cairn');

/** For a reader that cannot write: false when the key is another. */
export function isMasterKey(store: Reader, sealer: Sealer): boolean {
  const kept = store.get(meta, [ROW]);
  return kept === undefined || kept.value === proofOf(sealer);
}

function wrongKey(): StartError {
  return new StartError('the data was written under another master key; set CAIRN_MASTER_KEY or restore master.key.');
}
