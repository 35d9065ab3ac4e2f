/** Records when a device was last seen, and its newest pushed change. Not written with every call. */
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import { isDueAgain } from '../../time/truth.ts';
import { devices } from '../log/records.ts';

export interface PushVisit {
  readonly vaultId: string;
  readonly deviceId: string;
  readonly nowMs: number;
  /** Sequence number of the newest change pushed in this visit. */
  readonly pushedSeq: number;
}

/** One per process. */
export class PushVisits {
  /** Time of the last written visit by vault and device, so that most visits cost no read. */
  readonly #writtenMs = new Map<string, number>();
  /** Time at which a vault was last found at its limit of devices. */
  readonly #fullMs = new Map<string, number>();

  /** Within a decision: stores a visit, unless one was stored within `deviceSeenMs`. */
  note(batch: Batch, { vaultId, deviceId, nowMs, pushedSeq }: PushVisit): void {
    const name = `${vaultId} ${deviceId}`;
    const writtenMs = this.#writtenMs.get(name);
    if (writtenMs !== undefined && !isDueAgain(writtenMs, nowMs, limits.deviceSeenMs)) return;
    const known = batch.get(devices, [vaultId, deviceId]);
    if (known !== undefined && !isDueAgain(known.last_seen_ms, nowMs, limits.deviceSeenMs)) return;
    if (known === undefined && this.#isFull(batch, vaultId, nowMs)) return;
    batch.put(devices, [vaultId, deviceId], {
      last_seen_ms: nowMs,
      pulled_seq: known?.pulled_seq ?? 0,
      pushed_seq: Math.max(pushedSeq, known?.pushed_seq ?? 0),
    });
    // A forgotten entry only costs another read.
    if (this.#writtenMs.size >= limits.visitsRemembered) this.#writtenMs.clear();
    this.#writtenMs.set(name, nowMs);
  }

  /** True at the limit of devices: names cost nothing, so a limit is needed. A full vault is rarely counted again. */
  #isFull(batch: Batch, vaultId: string, nowMs: number): boolean {
    const foundMs = this.#fullMs.get(vaultId);
    if (foundMs !== undefined && nowMs - foundMs < limits.deviceSeenMs) return true;
    if (batch.range(devices, { prefix: [vaultId], limit: limits.devicesMax }).length < limits.devicesMax) return false;
    if (this.#fullMs.size >= limits.visitsRemembered) this.#fullMs.clear();
    this.#fullMs.set(vaultId, nowMs);
    return true;
  }
}
