/** Decides the effect of an upload on the stored blobs. Pure. */
import { limits } from '../limits/service.ts';
import type { BlobRecord, MirrorHead } from './records.ts';

export interface PublishInput {
  readonly existing: BlobRecord | undefined;
  /** Storage id of damaged bytes; undefined: none known. */
  readonly damagedId: number | undefined;
  readonly head: MirrorHead | undefined;
  readonly credentialId: string;
  readonly storageId: number;
  readonly byteSize: number;
  readonly uploadedBy: string | null;
  readonly nowMs: number;
}

export type PublishOutcome =
  /** Same blob, same credential: a retry. Nothing changes. */
  | { readonly kind: 'kept'; readonly record: BlobRecord }
  /** Same blob, signed under a new credential: its bytes are kept, its position and credential are new. */
  | { readonly kind: 'rebound'; readonly record: BlobRecord; readonly formerSequence: number }
  /** Same blob with damaged stored bytes: it keeps its position and receives the new bytes. */
  | { readonly kind: 'healed'; readonly record: BlobRecord }
  | { readonly kind: 'stored'; readonly record: BlobRecord };

/**
 * Decides the effect of a verified upload. Times never decrease within one account, except after a clock that had
 * jumped ahead was corrected: the upload order is that of the sequence numbers.
 */
export function decidePublish(input: PublishInput): PublishOutcome {
  const { existing, head } = input;
  const isDamaged = existing !== undefined && existing.storage_id === input.damagedId;
  if (existing !== undefined && existing.credential_id === input.credentialId) {
    return isDamaged
      ? { kind: 'healed', record: { ...existing, storage_id: input.storageId } }
      : { kind: 'kept', record: existing };
  }
  const lastMs = head === undefined ? 0 : Date.parse(head.uploaded_at);
  const record: BlobRecord = {
    storage_id: existing === undefined || isDamaged ? input.storageId : existing.storage_id,
    byte_size: input.byteSize,
    uploaded_at: new Date(
      lastMs > input.nowMs + limits.clockJumpMs ? input.nowMs : Math.max(input.nowMs, lastMs),
    ).toISOString(),
    uploaded_by: input.uploadedBy,
    credential_id: input.credentialId,
    sequence: (head?.sequence ?? 0) + 1,
  };
  return existing === undefined
    ? { kind: 'stored', record }
    : { kind: 'rebound', record, formerSequence: existing.sequence };
}
