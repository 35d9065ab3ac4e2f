/** Pure decisions of the mirror: what an upload does to what is there. */
import { limits } from '../limits/service.ts';
import type { BlobRecord, MirrorHead } from './records.ts';

export interface PublishInput {
  readonly existing: BlobRecord | undefined;
  /** Where stored bytes are that do not hash right; undefined: none are known. */
  readonly damagedId: number | undefined;
  readonly head: MirrorHead | undefined;
  readonly credentialId: string;
  readonly storageId: number;
  readonly byteSize: number;
  readonly uploadedBy: string | null;
  readonly nowMs: number;
}

export type PublishOutcome =
  /** The same blob under the same credential: a retry. Nothing changes. */
  | { readonly kind: 'kept'; readonly record: BlobRecord }
  /** The same blob, signed under a new credential: its stored bytes stay, its place and credential are new. */
  | { readonly kind: 'rebound'; readonly record: BlobRecord; readonly formerSequence: number }
  /** The same blob, whose stored bytes are damaged: it keeps its place and gets the new bytes. */
  | { readonly kind: 'healed'; readonly record: BlobRecord }
  | { readonly kind: 'stored'; readonly record: BlobRecord };

/**
 * What a verified upload does. Time does not run backwards within one account, but for what a clock wrote that had jumped
 * ahead: the order of uploads is that of their sequence numbers.
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
