/** Reads a vault for a pull from one snapshot: its packs, and the tail of unpacked versions. Read-only. */
import { limits } from '../../limits/service.ts';
import type { Codec } from '../../store/codec.ts';
import type { Store } from '../../store/store.ts';
import { defineTable } from '../../store/table.ts';
import { packs } from '../log/pack-records.ts';
import type { SyncReader } from '../log/reader.ts';
import { hashedPartOf, readVersionHead, type VersionHead } from '../log/version.ts';
import { lineAt, readPackSummary } from './index-layout.ts';
import { PackStates } from './states.ts';
import type { TailVersion, VaultView } from './view-types.ts';

/** The table of versions, decoded to their heads only, for walks that need nothing else. */
const headCodec: Codec<VersionHead> = {
  encode() {
    throw new Error('versions are not written through their heads');
  },
  decode: readVersionHead,
};
const versionHeads = defineTable<[vaultId: string, seq: number], VersionHead>(
  'sync_versions',
  headCodec,
  {},
  hashedPartOf,
);

export class VaultViews {
  readonly packs: PackStates;
  readonly #store: Store;
  readonly #reader: SyncReader;

  constructor(store: Store, reader: SyncReader) {
    this.#store = store;
    this.#reader = reader;
    this.packs = new PackStates(store);
  }

  /** Returns the vault after a sequence number. Consume it in the turn of the call, which sees one snapshot. */
  after(vaultId: string, after: number): VaultView {
    return {
      seq: this.#reader.head(vaultId).seq,
      packs: this.packs.from(vaultId, after + 1),
      tail: [...this.tail(vaultId, Math.max(after, this.packedUpTo(vaultId)))],
    };
  }

  /** Returns the last sequence number covered by packs, or 0 when there are none. */
  packedUpTo(vaultId: string): number {
    const [last] = this.#store.range(packs, { prefix: [vaultId], reverse: true, limit: 1 });
    return last === undefined ? 0 : readPackSummary(last.key[1], last.value).last;
  }

  /** True when the bytes of a pack contain the line of a version, current or not. */
  packsHold(vaultId: string, seq: number): boolean {
    const pack = this.packs.at(vaultId, seq);
    if (pack === undefined) return false;
    const columns = pack.columns();
    for (let index = 0; index < pack.summary.lines; index += 1) {
      const line = lineAt(columns, pack.summary.first, index);
      if (line.seq === seq) return !line.long;
    }
    return false;
  }

  /** Returns the greatest sequence number stored at or before a moment in milliseconds, or 0 when there is none. */
  seqAt(vaultId: string, storedMs: number): number {
    const head = this.#reader.head(vaultId);
    if (storedMs >= head.stored_ms) return head.seq;
    // Binary search: times rise with the numbers, some of which retention has removed.
    let low = 0;
    let high = head.seq;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const [found] = this.#store.range(versionHeads, { prefix: [vaultId], beyond: middle - 1, limit: 1 });
      if (found !== undefined && found.key[1] < high && found.value.storedMs <= storedMs) [, low] = found.key;
      else high = middle;
    }
    return low;
  }

  /** Returns the greatest number of a kept version up to this one; 0: retention has removed all of them. */
  keptUpTo(vaultId: string, seq: number): number {
    const query = { prefix: [vaultId], beyond: seq + 1, reverse: true, limit: 1 };
    return this.#store.range(versionHeads, query)[0]?.key[1] ?? 0;
  }

  /** Yields the versions after a sequence number, oldest first. */
  *tail(vaultId: string, after: number): Generator<TailVersion> {
    const aside = new Set(this.#reader.setAsideOf(vaultId));
    for (const { key, value } of this.#store.entries(versionHeads, { prefix: [vaultId], beyond: after })) {
      const seq = key[1];
      yield {
        seq,
        previousSeq: value.previousSeq,
        lineBytes: value.lineBytes,
        sizeBytes: value.sizeBytes,
        deleted: value.deleted,
        // A version set aside as damaged stays out of packs, because a pack is checked as a whole.
        long: value.storageId !== 0 || value.lineBytes > limits.packLineBytesMax || aside.has(seq),
        device: () => this.#deviceOf(vaultId, seq),
      };
    }
  }

  #deviceOf(vaultId: string, seq: number): string {
    return this.#reader.versionMeta(vaultId, seq)?.device_id ?? '';
  }
}
