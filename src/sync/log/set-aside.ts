/**
 * Sets damaged versions aside: they are kept, and pulls of many files skip them until a push of the same bytes heals
 * them.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import { SyncReader } from './reader.ts';
import { versions, versionsAside } from './records.ts';
import { isWholeVersion } from './stored-content.ts';
import { readVersionHead } from './version.ts';

export type VaultVersionKey = [vaultId: string, seq: number];

/** Resolves with true when the version was set aside, and with false when it is undamaged or does not exist. */
export async function setVersionAside(actors: ActorRegistry, key: VaultVersionKey, nowMs: number): Promise<boolean> {
  return await actors.vault(key[0]).ask((batch): boolean => {
    const bytes = batch.get(versions, key);
    if (bytes === undefined) return false;
    const { storageId } = readVersionHead(bytes);
    const escaped = () => new SyncReader(batch).escapedContent(storageId);
    if (isWholeVersion(bytes, escaped)) return false;
    batch.put(versionsAside, key, { noted_at: new Date(nowMs).toISOString() });
    return true;
  });
}
