/**
 * Records when each device last pulled, and up to which change. Kept in memory and written once a minute at most,
 * because a device may pull every second. After a crash the display is outdated until the next visit; no decision
 * depends on it.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { timeAfter } from '../../time/truth.ts';
import { type DeviceRecord, devices } from '../log/records.ts';

interface Visit {
  readonly vaultId: string;
  readonly deviceId: string;
  seenMs: number;
  pulledSeq: number;
}

export interface VisitsOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly log: Log;
  readonly now: () => number;
}

export class PullVisits {
  readonly #options: VisitsOptions;
  readonly #unwritten = new Map<string, Visit>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VisitsOptions) {
    this.#options = options;
  }

  /** Notes that a device has pulled everything up to a sequence number. */
  pulled(vaultId: string, deviceId: string, seq: number): void {
    const key = `${vaultId} ${deviceId}`;
    const visit = this.#unwritten.get(key);
    // Too many unwritten visits: the device is recorded at a later visit.
    if (visit === undefined && this.#unwritten.size >= limits.visitsRemembered) return;
    const seenMs = this.#options.now();
    const pulledSeq = Math.max(seq, visit?.pulledSeq ?? 0);
    this.#unwritten.set(key, { vaultId, deviceId, seenMs, pulledSeq });
    this.#timer ??= setTimeout(() => void this.#write(), limits.deviceSeenMs).unref();
  }

  /** Returns the devices of a vault by name, including visits not written yet. */
  list(vaultId: string): Map<string, DeviceRecord> {
    const rows = this.#options.store.range(devices, { prefix: [vaultId], limit: limits.devicesMax });
    const found = new Map(rows.map(({ key, value }) => [key[1], value]));
    for (const visit of this.#unwritten.values()) {
      if (visit.vaultId === vaultId) found.set(visit.deviceId, merged(found.get(visit.deviceId), visit));
    }
    return found;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#write();
  }

  async #write(): Promise<void> {
    this.#timer = undefined;
    const { actors, log } = this.#options;
    // Visits that come meanwhile wait for the next time.
    const waiting = new Map(this.#unwritten);
    for (const [name, visit] of waiting) {
      const { vaultId, deviceId } = visit;
      try {
        await actors.vault(vaultId).ask((batch): void => {
          const known = batch.get(devices, [vaultId, deviceId]);
          if (known === undefined && batch.range(devices, { prefix: [vaultId] }).length >= limits.devicesMax) return;
          batch.put(devices, [vaultId, deviceId], merged(known, visit));
        });
      } catch (error) {
        log.warn({ err: error, vault_id: vaultId }, 'the visit of a device could not be written');
      }
      // Listed until it is stored, or a position would go back in between. A later visit replaced it.
      if (this.#unwritten.get(name) === visit) this.#unwritten.delete(name);
    }
  }
}

function merged(known: DeviceRecord | undefined, { seenMs, pulledSeq }: Visit): DeviceRecord {
  return {
    last_seen_ms: timeAfter(seenMs, known?.last_seen_ms ?? 0),
    pulled_seq: Math.max(known?.pulled_seq ?? 0, pulledSeq),
    pushed_seq: known?.pushed_seq ?? 0,
  };
}
