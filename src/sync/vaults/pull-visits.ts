/**
 * Owns when each device was here and how far it has pulled. Kept in memory and written once a minute at the most, because
 * a device may ask every second; what a crash loses is shown wrong until its next visit, and decides nothing.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
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

  /** A pull gave a device everything up to a sequence number. */
  pulled(vaultId: string, deviceId: string, seq: number): void {
    const key = `${vaultId} ${deviceId}`;
    const visit = this.#unwritten.get(key);
    // More at once than are remembered: the rest is remembered at its next visit.
    if (visit === undefined && this.#unwritten.size >= limits.visitsRemembered) return;
    const seenMs = this.#options.now();
    const pulledSeq = Math.max(seq, visit?.pulledSeq ?? 0);
    this.#unwritten.set(key, { vaultId, deviceId, seenMs, pulledSeq });
    this.#timer ??= setTimeout(() => void this.#write(), limits.deviceSeenMs).unref();
  }

  /** The devices of a vault by name, with what is not written yet. */
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
    const visits = [...this.#unwritten.values()];
    this.#unwritten.clear();
    const { actors, log } = this.#options;
    for (const visit of visits) {
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
    }
  }
}

function merged(known: DeviceRecord | undefined, { seenMs, pulledSeq }: Visit): DeviceRecord {
  return {
    last_seen_ms: Math.max(known?.last_seen_ms ?? 0, seenMs),
    pulled_seq: Math.max(known?.pulled_seq ?? 0, pulledSeq),
    pushed_seq: known?.pushed_seq ?? 0,
  };
}
