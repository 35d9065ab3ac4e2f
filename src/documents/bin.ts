/** Empties the trash of documents: permanently deletes documents and replaced texts after the retention period. */
import type { ActorRegistry } from '../actors/registry.ts';
import { limits } from '../limits/service.ts';
import type { Batch } from '../store/group-commit.ts';
import { isThere, unlessDamaged } from '../store/intact.ts';
import type { Store } from '../store/store.ts';
import { DAY_MS } from '../time/calendar.ts';
import { documentBin, type Space } from './records.ts';
import { dropDocument, dropVersion } from './texts.ts';
import { type BinKey, WHOLE } from './write.ts';

interface DocumentBinOptions {
  readonly store: Store;
  readonly actors: ActorRegistry;
  readonly services: Readonly<Record<Space, { forget(batch: Batch, accountId: string, id: number): void }>>;
}

export class DocumentBin {
  readonly #options: DocumentBinOptions;

  constructor(options: DocumentBinOptions) {
    this.#options = options;
  }

  /**
   * Permanently deletes what has been in the trash for `limits.binDays`. Resolves with the number of documents and
   * versions.
   */
  async empty(nowMs: number): Promise<number> {
    const { store, actors } = this.#options;
    const cutoffMs = nowMs - limits.binDays * DAY_MS;
    const damaged = new Set<string>();
    let removed = 0;
    for (;;) {
      const due: BinKey[] = [];
      for (const key of store.keys(documentBin)) {
        if (key[0] > cutoffMs || due.length === limits.documentBinRowsMax) break;
        if (!damaged.has(key[1])) due.push(key);
      }
      if (due.length === 0) return removed;
      for (const accountId of new Set(due.map((key) => key[1]))) {
        const keys = due.filter((key) => key[1] === accountId);
        const work = () => actors.account(accountId).ask((batch) => this.#remove(batch, keys));
        const count = await unlessDamaged(work, undefined);
        if (count === undefined) damaged.add(accountId);
        removed += count ?? 0;
      }
    }
  }

  #remove(batch: Batch, keys: readonly BinKey[]): number {
    let removed = 0;
    for (const key of keys) {
      // Restored after it was found.
      if (!isThere(batch, documentBin, key)) continue;
      const [, accountId, space, id, version] = key;
      const name = { accountId, space, id };
      batch.remove(documentBin, key);
      if (version === WHOLE) {
        this.#options.services[space].forget(batch, accountId, id);
        dropDocument(batch, name);
      } else dropVersion(batch, name, version);
      removed += 1;
    }
    return removed;
  }
}
