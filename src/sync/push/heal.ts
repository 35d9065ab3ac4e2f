/** Replaces the damaged content of a stored version with the intact bytes of a push. */
import type { Damage } from '../../store/data-file/damage.ts';
import type { Contents } from '../contents/incoming.ts';
import { PieceShares } from '../contents/piece-shares.ts';
import { versions, versionsAside } from '../log/records.ts';
import { isWholeVersion } from '../log/stored-content.ts';
import { encodeVersion, type NewMeta, readVersionHead, readVersionMeta } from '../log/version.ts';
import type { PushStep } from './step.ts';

/**
 * Within a decision: writes the content of a push into the version with the same content, if its bytes are damaged.
 * Returns true when it did. The version keeps its place, time and line; its old pieces are released.
 */
export function healVersion(
  { contents, damage }: { readonly contents: Contents; readonly damage: Damage },
  { turn: { batch, reader, vaultId }, content }: PushStep,
  seq: number,
): boolean {
  const bytes = batch.get(versions, [vaultId, seq]);
  if (content === undefined || bytes === undefined) return false;
  const head = readVersionHead(bytes);
  const escaped = () => reader.escapedContent(head.storageId);
  // The chunks of a damaged list are not known, so they could not be released. A damaged chunk heals when it is sent again.
  if (head.encoding === 'chunks' || isWholeVersion(bytes, escaped)) return false;
  const meta = metaOf(bytes);
  // Other fields of the line are damaged too, so it is not certain that the bytes belong here.
  if (meta?.sha256 !== content.sha256 || meta.seq !== seq || meta.size_bytes !== content.sizeBytes) return false;
  const { previousSeq, storedMs, moved, storageId } = head;
  batch.put(
    versions,
    [vaultId, seq],
    encodeVersion({ meta, storedMs, previousSeq, moved, content: content.stored }).bytes,
  );
  batch.remove(versionsAside, [vaultId, seq]);
  contents.adopt(batch, content);
  if (storageId !== 0) new PieceShares(batch).release(storageId);
  damage.noteHealed('version', { vault_id: vaultId, seq });
  return true;
}

const LEFT_OUT = { deleted_at: undefined, renamed_from: undefined, executable: undefined, encoding: undefined };

/** Returns the fields of the line except its content, absent ones as undefined; undefined if it cannot be read. */
function metaOf(bytes: Uint8Array): NewMeta | undefined {
  try {
    return { ...LEFT_OUT, ...readVersionMeta(bytes) };
  } catch {
    // The damage is not in the content alone.
    return undefined;
  }
}
