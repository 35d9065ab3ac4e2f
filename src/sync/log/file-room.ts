/** What file sync asks about the room of an account, and whether a write fits in. */
import type { Fault } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';

/** Bytes by quota: current files and pending conflicts; everything else that is kept. */
export type FileBytes = Readonly<Record<'files' | 'history', number>>;

export interface FileRoom {
  quotasOf(accountId: string): FileBytes;
  /** Refuses with `storage_reserved` while the disk is nearly full, unless the operator marked the account. */
  checkReserve(accountId: string): void;
  /** Counts a write that a quota refused. */
  noteRefused(kind: 'files' | 'history'): void;
}

export type OverRoom = Extract<Fault, { kind: 'quota_exceeded' }> & { readonly of: 'files' | 'history' };

/**
 * What a write of content is refused with; undefined: it fits. `freedBytes` of current files and pending conflicts become
 * history with it. A delete is never asked: its bytes only move from one quota to the other, and it must always work.
 * `used` is asked only where it counts.
 */
export function overRoom(
  quotas: FileBytes,
  used: () => FileBytes,
  contentBytes: number,
  freedBytes: number,
): OverRoom | undefined {
  const grown = { files: contentBytes - freedBytes, history: freedBytes + limits.recordCountedBytes };
  const now = used();
  for (const of of ['files', 'history'] as const) {
    if (grown[of] > 0 && now[of] + grown[of] > quotas[of]) {
      return { kind: 'quota_exceeded', of, quotaBytes: quotas[of], usedBytes: now[of], neededBytes: grown[of] };
    }
  }
  return undefined;
}
