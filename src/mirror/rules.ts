/** Decides the effect of an upload on the stored blobs. Pure. */
import { limits } from '../limits/service.ts';
import type { BlobRecord, UploadedFacts } from './declared.ts';
import type { MirrorHead } from './records.ts';

export interface PublishInput {
  readonly existing: BlobRecord | undefined;
  /** Storage id of damaged bytes; undefined: none known. */
  readonly damagedId: number | undefined;
  readonly head: MirrorHead | undefined;
  readonly credentialId: string;
  readonly storageId: number;
  readonly byteSize: number;
  readonly uploadedBy: string | null;
  readonly archive: UploadedFacts;
  readonly nowMs: number;
}

export type PublishOutcome =
  /** Same blob, same credential: a retry. Nothing changes. */
  | { readonly kind: 'kept'; readonly record: BlobRecord }
  /** Same blob, signed under a new credential: its bytes are kept, its position and credential are new. */
  | { readonly kind: 'rebound'; readonly record: BlobRecord; readonly former: BlobRecord }
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
    ...factsOf(existing, input.archive),
  };
  return existing === undefined ? { kind: 'stored', record } : { kind: 'rebound', record, former: existing };
}

/**
 * Returns what is known of an archive after an upload of its bytes. The repository and the base are fixed by the first
 * upload that names a repository: increments build on it, and a later base could make a circle.
 */
function factsOf(existing: BlobRecord | undefined, given: UploadedFacts): UploadedFacts {
  if (existing === undefined) return given;
  const { repository_id, repository_label, base_sha256, archive_kind } = existing;
  if (repository_id === null) return { ...given, archive_kind: given.archive_kind ?? archive_kind };
  const isSame = given.repository_id === repository_id;
  return {
    repository_id,
    repository_label: (isSame ? given.repository_label : null) ?? repository_label,
    base_sha256,
    archive_kind,
  };
}
