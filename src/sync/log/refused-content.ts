/** The content of a refused push, ready to be stored as a version. */
import type { Conflict, SyncReader } from './reader.ts';
import type { ReadyContent } from './ready-content.ts';

/** Undefined for a delete. Throws when the bytes of the conflict are missing. */
export function refusedContent(reader: SyncReader, vaultId: string, conflict: Conflict): ReadyContent | undefined {
  const { your_sha256: sha256, your_git_sha: gitSha, size_bytes: sizeBytes, encoding, ...rest } = conflict.record;
  if (sha256 === null) return undefined;
  const of = { sha256, gitSha: gitSha ?? '', sizeBytes, encoding };
  if (rest.storage_id !== 0) {
    return { ...of, stored: { kind: 'pieces', storageId: rest.storage_id, escapedBytes: rest.escaped_bytes } };
  }
  const bytes = reader.conflictContent(vaultId, conflict);
  if (bytes === undefined) throw new Error('the bytes of a conflict are missing; run `cairn verify`');
  const text = bytes.toString(encoding === 'base64' ? 'base64' : 'utf8');
  return { ...of, stored: { kind: 'inline', json: JSON.stringify(text) } };
}
