/** Owns the proof that a data file belongs to the master key at hand: a known value, hashed under it. */
import { StartError } from '../../common/start-error.ts';
import { meta } from '../meta.ts';
import { HUB } from '../owners.ts';
import type { Store } from '../store.ts';
import type { Sealer } from './seal.ts';

/** Writes the proof into a new data file, checks it in an old one. Throws StartError when the key is another. */
export async function checkMasterKey(store: Store, sealer: Sealer): Promise<void> {
  const proof = sealer.keyedHash('key-check', 'cairn');
  const kept = store.get(meta, ['key_check']);
  if (kept === undefined) await store.write(HUB, (batch) => batch.put(meta, ['key_check'], { value: proof }));
  else if (kept.value !== proof) throw wrongKey();
}

/** For a reader that cannot write: false when the key is another. */
export function isMasterKey(store: Store, sealer: Sealer): boolean {
  const kept = store.get(meta, ['key_check']);
  return kept === undefined || kept.value === sealer.keyedHash('key-check', 'cairn');
}

function wrongKey(): StartError {
  return new StartError('the data was written under another master key; set CAIRN_MASTER_KEY or restore master.key.');
}
