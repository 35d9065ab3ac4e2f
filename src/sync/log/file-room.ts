/** Decides whether a write of file sync fits into the quotas of an account. */
import type { Fault } from '../../common/fault.ts';
import { isChunked } from '../../limits/large-file.ts';
import { limits } from '../../limits/service.ts';

/** Bytes by quota. `files`: current files and pending conflicts; `history`: everything else that is kept. */
export type FileBytes = Readonly<Record<'files' | 'history', number>>;

export interface FileRoom {
  quotasOf(accountId: string): FileBytes;
  /** Throws Refusal `storage_reserved` while the disk is nearly full, unless the operator marked the account. */
  checkReserve(accountId: string): void;
  /** Counts a write rejected by a quota. */
  noteRefused(kind: 'files' | 'history'): void;
}

export type OverRoom = Extract<Fault, { kind: 'quota_exceeded' }> & { readonly of: 'files' | 'history' };

/**
 * Returns the fault when a write of content exceeds a quota; undefined when it fits. The write moves `freedBytes` of
 * current files and pending conflicts to history. An accepted delete is not checked: its bytes only move from one
 * quota to the other, and it must always work.
 */
export function overRoom(
  quotas: FileBytes,
  used: () => FileBytes,
  contentBytes: number,
  freedBytes: number,
): OverRoom | undefined {
  // The chunks of a large file are stored already: what becomes current is history no longer.
  const storedBytes = isChunked(contentBytes) ? contentBytes : 0;
  const grown = { files: contentBytes - freedBytes, history: freedBytes - storedBytes + limits.recordCountedBytes };
  const now = used();
  for (const of of ['files', 'history'] as const) {
    if (grown[of] > 0 && now[of] + grown[of] > quotas[of]) {
      return { kind: 'quota_exceeded', of, quotaBytes: quotas[of], usedBytes: now[of], neededBytes: grown[of] };
    }
  }
  return undefined;
}
