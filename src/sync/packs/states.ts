/**
 * Reads the packs of a vault and caches them until one changes: a first pull looks at every pack, which took some 10 ms
 * of one turn for the 800 packs of 100,000 files. Read-only.
 */

import { Remembered } from '../../cache/lru.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { packDead, packs } from '../log/pack-records.ts';
import { readPackColumns, readPackDevices, readPackSummary } from './index-layout.ts';
import type { PackState } from './view-types.ts';

export class PackStates {
  readonly #store: Store;
  readonly #known = new Remembered<readonly PackState[]>(limits.packsRemembered);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Yields the packs from the one whose range contains a sequence number on. Consume it in the turn of the call. */
  *from(vaultId: string, seq: number): Generator<PackState> {
    const revision = this.#store.revision([packs, packDead]);
    const known = revision === undefined ? undefined : this.#known.get(vaultId, revision);
    if (known !== undefined) {
      const first = known.findIndex(({ summary }) => summary.last >= seq);
      if (first >= 0) yield* known.slice(first);
      return;
    }
    const found: PackState[] = [];
    for (const state of this.#read(vaultId, seq)) {
      found.push(state);
      yield state;
    }
    // Only a complete list is cached: it began at the first pack, and the caller consumed it to the end.
    if (revision !== undefined && seq <= 1) this.#remember(vaultId, revision, found);
  }

  /** Returns the pack whose range contains a sequence number. */
  at(vaultId: string, seq: number): PackState | undefined {
    const [row] = this.#store.range(packs, { prefix: [vaultId], reverse: true, beyond: seq + 1, limit: 1 });
    const pack = row && this.#state(vaultId, row.key[1], row.value);
    return pack !== undefined && pack.summary.last >= seq ? pack : undefined;
  }

  /** Returns the pack before or after one, in the order of their ranges. */
  neighbour(vaultId: string, { first }: { readonly first: number }, side: 'before' | 'after'): PackState | undefined {
    const query = { prefix: [vaultId], beyond: first, reverse: side === 'before', limit: 1 };
    const [row] = this.#store.range(packs, query);
    return row && this.#state(vaultId, row.key[1], row.value);
  }

  *#read(vaultId: string, seq: number): Generator<PackState> {
    const holder = this.at(vaultId, seq);
    if (holder === undefined) return;
    yield holder;
    const after = { prefix: [vaultId], beyond: holder.summary.first };
    for (const { key, value } of this.#store.entries(packs, after)) yield this.#state(vaultId, key[1], value);
  }

  #state(vaultId: string, first: number, index: Uint8Array): PackState {
    return {
      summary: readPackSummary(first, index),
      dead: this.#store.get(packDead, [vaultId, first]),
      devices: () => readPackDevices(index),
      columns: () => readPackColumns(index),
    };
  }

  /** Caches packs without their indexes, which are read again when needed. */
  #remember(vaultId: string, revision: number, found: readonly PackState[]): void {
    const lean = found.map(({ summary, dead }): PackState => {
      const index = () => {
        const bytes = this.#store.get(packs, [vaultId, summary.first]);
        if (bytes === undefined) throw new Error(`the pack at #${summary.first} of ${vaultId} went unseen`);
        return bytes;
      };
      let devices: readonly string[] | undefined;
      return {
        summary,
        dead,
        devices() {
          devices ??= readPackDevices(index());
          return devices;
        },
        columns: () => readPackColumns(index()),
      };
    });
    this.#known.set(vaultId, revision, lean, 1 + lean.length);
  }
}
