/** Owns when a device was here last and how far it has come; written now and then, not with every call. */
import { limits } from '../limits.ts';
import type { Batch } from '../store/group-commit.ts';
import { devices } from './records.ts';

export interface Visit {
  readonly vaultId: string;
  readonly deviceId: string;
  readonly nowMs: number;
  /** The newest change that this visit brought. */
  readonly pushedSeq?: number;
  /** The newest change that this visit took along. */
  readonly pulledSeq?: number;
}

/** Within a decision: notes a visit, unless one was noted a moment ago and this one took nothing along. */
export function noteVisit(batch: Batch, { vaultId, deviceId, nowMs, pushedSeq = 0, pulledSeq = 0 }: Visit): void {
  const known = batch.get(devices, [vaultId, deviceId]);
  const isFresh = known !== undefined && nowMs - known.last_seen_ms < limits.deviceSeenMs;
  if (isFresh && pulledSeq <= known.pulled_seq) return;
  batch.put(devices, [vaultId, deviceId], {
    last_seen_ms: nowMs,
    pulled_seq: Math.max(pulledSeq, known?.pulled_seq ?? 0),
    pushed_seq: Math.max(pushedSeq, known?.pushed_seq ?? 0),
  });
}
