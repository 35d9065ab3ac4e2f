/**
 * Schedules the packing of vaults: in the background once a vault has been quiet for a moment or its tail has grown
 * long, and at once before a pull of a vault whose tail is not short. Works in short turns; a failed one is retried.
 */

import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { Changes } from '../../live/changes.ts';
import { isThere } from '../../store/intact.ts';
import { SWEEP } from '../../store/owners.ts';
import type { Store } from '../../store/store.ts';
import { loosePacks, packBytes } from '../log/pack-records.ts';
import type { SyncReader } from '../log/reader.ts';
import { vaultOwners } from '../log/records.ts';
import { PackLeases } from './leases.ts';
import { PackWriter, type PackWriterOptions } from './writer.ts';

export interface PackerOptions extends Omit<PackWriterOptions, 'leases'> {
  readonly reader: SyncReader;
  /** Of heads of vaults, and of their owners: an imported vault gets one when its account exists. */
  readonly changes: Changes;
  readonly log: Log;
}

/** Changes of a vault since it was last packed in the background. */
interface Dirty {
  changedMs: number;
  changes: number;
}

export class Packer {
  /** Every stream holds a lease while it runs. */
  readonly leases: PackLeases;
  readonly #options: PackerOptions;
  readonly #writer: PackWriter;
  readonly #dirty = new Map<string, Dirty>();
  readonly #stopListening: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Queue of all work that writes packs, one task at a time. */
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: PackerOptions) {
    this.#options = options;
    this.leases = new PackLeases((packIds) => this.#remove(packIds));
    this.#writer = new PackWriter({ ...options, leases: this.leases });
    this.#stopListening = options.changes.watchAll(({ owner, rows }) => this.#note(owner, rows));
  }

  /** Removes packs without an index; called at start. Resolves with their number. */
  async sweep(): Promise<number> {
    const { store } = this.#options;
    const left = [...store.keys(loosePacks)].map(([packId]) => packId);
    for (let at = 0; at < left.length; at += limits.packsRemovedMax) {
      await removePacks(store, left.slice(at, at + limits.packsRemovedMax));
    }
    return left.length;
  }

  /** Packs a long tail of a vault. First drops its packs if they contain a version set aside. Logs failures. */
  async settle(vaultId: string): Promise<void> {
    const { views, reader } = this.#options;
    if (reader.setAsideOf(vaultId).some((seq) => views.packsHold(vaultId, seq))) {
      this.drop(vaultId);
      await this.#work;
    }
    const upTo = reader.head(vaultId).seq;
    if (upTo - views.packedUpTo(vaultId) <= limits.tailVersionsMax) return;
    await this.#pack(vaultId, upTo, false);
  }

  /** Packs the whole tail of a vault. Logs failures and resolves all the same. */
  async packAll(vaultId: string): Promise<void> {
    await this.#pack(vaultId, this.#options.reader.head(vaultId).seq, true);
  }

  /** Queues the removal of all packs of a vault, which are then written again from its versions. Logs failures. */
  drop(vaultId: string): void {
    const { log } = this.#options;
    this.#work = this.#work.then(async () => {
      try {
        await this.#writer.drop(vaultId);
        this.#note(vaultId, 1);
      } catch (error) {
        log.warn({ err: error, vault_id: vaultId }, 'damaged packs could not be removed; the next pull tries again');
      }
    });
  }

  /** Stops the packer. Resolves when all writing has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    await this.#work;
  }

  #note(vaultId: string, changes: number): void {
    const dirty = this.#dirty.get(vaultId) ?? { changedMs: 0, changes: 0 };
    dirty.changedMs = performance.now();
    dirty.changes += changes;
    this.#dirty.set(vaultId, dirty);
    this.#timer ??= setTimeout(() => this.#look(), limits.packLookMs).unref();
  }

  /** Packs vaults that have been quiet for `packRestMs`, and those whose backlog is too long to wait for that. */
  #look(): void {
    const { store } = this.#options;
    this.#timer = undefined;
    const restedMs = performance.now() - limits.packRestMs;
    for (const [vaultId, { changedMs, changes }] of this.#dirty) {
      if (changedMs > restedMs && changes < limits.packBacklogVersions) continue;
      this.#dirty.delete(vaultId);
      // A vault being imported has no owner yet; one that was deleted has none. A damaged row counts: an error in
      // this turn of the loop has no caller to catch it and would end the hub.
      if (isThere(store, vaultOwners, [vaultId])) void this.#pack(vaultId, Number.POSITIVE_INFINITY, false);
    }
    if (this.#dirty.size > 0) this.#timer = setTimeout(() => this.#look(), limits.packLookMs).unref();
  }

  /** Packs a vault up to a sequence number. `takesLittle`: also packs a rest that does not fill a pack. Never rejects. */
  #pack(vaultId: string, upTo: number, takesLittle: boolean): Promise<void> {
    const { views, log } = this.#options;
    const work = async () => {
      try {
        while (!this.#closed && views.packedUpTo(vaultId) < upTo) {
          const touched = await this.#writer.packNext(vaultId, upTo, takesLittle);
          if (touched.length === 0) return;
          for (const first of touched) await this.#writer.tidy(vaultId, first);
          // Yields to other work.
          await new Promise((resolve) => setImmediate(resolve));
        }
      } catch (error) {
        // Pulls still work: they read unpacked versions one by one.
        log.warn({ err: error, vault_id: vaultId }, 'a vault could not be packed; the next change tries again');
      }
    };
    this.#work = this.#work.then(work);
    return this.#work;
  }

  /** Removes packs. A pack that cannot be removed stays loose until the next start removes it. */
  #remove(packIds: readonly number[]): void {
    if (this.#closed) return;
    this.#work = this.#work.then(async () => {
      try {
        await removePacks(this.#options.store, packIds);
      } catch (error) {
        this.#options.log.warn({ err: error }, 'packs that are no longer used could not be removed');
      }
    });
  }
}

function removePacks(store: Store, packIds: readonly number[]): Promise<void> {
  return store.write(SWEEP, (batch): void => {
    for (const packId of packIds) {
      batch.remove(packBytes, [packId]);
      batch.remove(loosePacks, [packId]);
    }
  });
}
