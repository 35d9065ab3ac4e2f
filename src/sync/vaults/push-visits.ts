/** Owns when a device was here last and how far it has come; written now and then, not with every call. */
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { devices } from '../log/records.ts';

export interface PushVisit {
  readonly vaultId: string;
  readonly deviceId: string;
  readonly nowMs: number;
  /** The newest change that this visit brought. */
  readonly pushedSeq?: number;
  /** The newest change that this visit took along. */
  readonly pulledSeq?: number;
}

/** One per process. */
export class PushVisits {
  /** When a visit was written last, by vault and device, so that most visits cost no read. */
  readonly #writtenMs = new Map<string, number>();
  /** When a vault was found to remember as many devices as it may. */
  readonly #fullMs = new Map<string, number>();

  /** Within a decision: notes a visit, unless one was noted a moment ago and this one took nothing along. */
  note(batch: Batch, { vaultId, deviceId, nowMs, pushedSeq = 0, pulledSeq = 0 }: PushVisit): void {
    const name = `${vaultId} ${deviceId}`;
    const writtenMs = this.#writtenMs.get(name);
    if (pulledSeq === 0 && writtenMs !== undefined && nowMs - writtenMs < limits.deviceSeenMs) return;
    const known = batch.get(devices, [vaultId, deviceId]);
    const isFresh = known !== undefined && nowMs - known.last_seen_ms < limits.deviceSeenMs;
    if (isFresh && pulledSeq <= known.pulled_seq) return;
    if (known === undefined && this.#isFull(batch, vaultId, nowMs)) return;
    batch.put(devices, [vaultId, deviceId], {
      last_seen_ms: nowMs,
      pulled_seq: Math.max(pulledSeq, known?.pulled_seq ?? 0),
      pushed_seq: Math.max(pushedSeq, known?.pushed_seq ?? 0),
    });
    // What is forgotten is only read again.
    if (this.#writtenMs.size >= limits.visitsRemembered) this.#writtenMs.clear();
    this.#writtenMs.set(name, nowMs);
  }

  /** A name costs whoever invents it nothing, so a vault remembers a bounded number. Counts at most once in a while. */
  #isFull(batch: Batch, vaultId: string, nowMs: number): boolean {
    const foundMs = this.#fullMs.get(vaultId);
    if (foundMs !== undefined && nowMs - foundMs < limits.deviceSeenMs) return true;
    if (batch.range(devices, { prefix: [vaultId], limit: limits.devicesMax }).length < limits.devicesMax) return false;
    if (this.#fullMs.size >= limits.visitsRemembered) this.#fullMs.clear();
    this.#fullMs.set(vaultId, nowMs);
    return true;
  }
}
