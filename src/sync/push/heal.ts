/** Replaces the damaged content of a stored version with the intact bytes of a push. */
import type { Damage } from '../../store/data-file/damage.ts';
import type { Batch } from '../../store/group-commit.ts';
import { LIST_HASH_CHARS } from '../../text/chunk-list.ts';
import type { Contents } from '../contents/incoming.ts';
import { PieceShares } from '../contents/piece-shares.ts';
import type { ReadyContent } from '../log/ready-content.ts';
import { pieces, versions, versionsAside } from '../log/records.ts';
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
  if (isWholeVersion(bytes, escaped)) return false;
  if (head.encoding === 'chunks') {
    if (healList(batch, head.storageId, content)) {
      for (const healed of sharing(batch, vaultId, { seq, storageId: head.storageId })) {
        batch.remove(versionsAside, [vaultId, healed]);
        damage.noteHealed('version', { vault_id: vaultId, seq: healed });
      }
    }
    // The staged list goes: the stored one is whole again, and its chunks count it.
    return false;
  }
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

/** A version, and those that were set aside because they share its list. */
function sharing(
  batch: Batch,
  vaultId: string,
  { seq, storageId }: { readonly seq: number; readonly storageId: number },
) {
  const aside = [...batch.keys(versionsAside, [vaultId])].map(([, other]) => other);
  const others = aside.filter((other) => {
    const bytes = other === seq ? undefined : batch.view(versions, [vaultId, other]);
    return bytes !== undefined && readVersionHead(bytes).storageId === storageId;
  });
  return [seq, ...others];
}

/**
 * Writes a damaged list of chunks again, from a staged one that is certainly the same: either all before its hash is equal,
 * or its hash. Another list has other chunks, and those of the damaged one could not be released.
 */
function healList(batch: Batch, storageId: number, { stored, encoding }: ReadyContent): boolean {
  if (encoding !== 'chunks' || stored.kind !== 'pieces') return false;
  const right = batch.get(pieces, [stored.storageId, 0]);
  const damaged = batch.get(pieces, [storageId, 0]);
  if (right === undefined || damaged?.length !== right.length) return false;
  const at = right.length - LIST_HASH_CHARS;
  const isSame = (from: number, to?: number) =>
    Buffer.compare(right.subarray(from, to), damaged.subarray(from, to)) === 0;
  if (!isSame(0, at) && !isSame(at)) return false;
  batch.put(pieces, [storageId, 0], Uint8Array.from(right));
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
