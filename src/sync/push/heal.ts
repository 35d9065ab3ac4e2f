/** Owns how the good bytes of a push take the place of damaged ones that are stored as the same version. */
import type { Damage } from '../../store/data-file/damage.ts';
import type { Contents } from '../contents/incoming.ts';
import { PieceShares } from '../contents/piece-shares.ts';
import { pieces, setAside, versions } from '../log/records.ts';
import { isWholeVersion } from '../log/stored-content.ts';
import { encodeVersion, type NewMeta, readVersionHead, readVersionMeta } from '../log/version.ts';
import type { PushStep } from './step.ts';

export interface HealTools {
  readonly contents: Contents;
  readonly damage: Damage;
}

/**
 * Within a decision: writes the content of a push into the version that holds the same bytes, when those are damaged.
 * Returns whether it did. The version keeps its place, time and line; its pieces are let go of.
 */
export function healVersion(
  { contents, damage }: HealTools,
  { turn: { batch, vaultId }, content }: PushStep,
  seq: number,
): boolean {
  const bytes = batch.get(versions, [vaultId, seq]);
  if (content === undefined || bytes === undefined) return false;
  const head = readVersionHead(bytes);
  const escaped = () => Buffer.concat(batch.range(pieces, { prefix: [head.storageId] }).map(({ value }) => value));
  if (isWholeVersion(bytes, escaped)) return false;
  const meta = metaOf(bytes);
  // Other fields of its line are damaged too: then these bytes do not belong here for sure.
  if (meta?.sha256 !== content.sha256 || meta.seq !== seq || meta.size_bytes !== content.sizeBytes) return false;
  const { previousSeq, storedMs, moved, storageId } = head;
  batch.put(
    versions,
    [vaultId, seq],
    encodeVersion({ meta, storedMs, previousSeq, moved, content: content.stored }).bytes,
  );
  batch.remove(setAside, [vaultId, seq]);
  contents.adopt(batch, content);
  if (storageId !== 0) new PieceShares(batch).release(storageId);
  damage.noteHealed('version', { vault_id: vaultId, seq });
  return true;
}

const LEFT_OUT = { deleted_at: undefined, renamed_from: undefined, executable: undefined, encoding: undefined };

/** What the line says besides its content, with what it leaves out as undefined; undefined: it cannot be read. */
function metaOf(bytes: Uint8Array): NewMeta | undefined {
  try {
    return { ...LEFT_OUT, ...readVersionMeta(bytes) };
  } catch {
    // The damage is not in the content alone.
    return undefined;
  }
}
