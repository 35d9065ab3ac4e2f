/**
 * Counts a list in the rows of its chunks, and takes that back: a portion of them a decision, because a list has thousands.
 * How far it is stands in the row of the staged list. So a list counts fully before a decision adopts it, a list
 * without a version or conflict is staged again, and the next start takes back what a crash left.
 */
import type { ActorRegistry } from '../../actors/registry.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import type { Chunk } from '../../text/chunk-list.ts';
import { readChunkList } from '../log/large-content.ts';
import { pieces, type StagedRecord, stagedPieces } from '../log/records.ts';
import { eachOnce, holdChunks, missingChunks, noteTold, releaseChunks } from './chunk-refs.ts';

/** The vault of a list, and the account that waits for it. */
interface ListOwner {
  readonly accountId: string;
  readonly vaultId: string;
}

export interface HeldListsOptions {
  readonly store: Store;
  readonly actors: Pick<ActorRegistry, 'vault'>;
  readonly now: () => number;
}

export class HeldLists {
  readonly #store: Store;
  readonly #actors: Pick<ActorRegistry, 'vault'>;
  readonly #now: () => number;

  constructor({ store, actors, now }: HeldListsOptions) {
    this.#store = store;
    this.#actors = actors;
    this.#now = now;
  }

  /**
   * Notes that the sender of these chunks is told that they are here, so that they stay for a day. Resolves with those that
   * are not, once that is on disk.
   */
  async keep({ accountId, vaultId }: ListOwner, names: readonly string[]): Promise<string[]> {
    const missing: string[] = [];
    for (let at = 0; at < names.length; at += limits.chunkRowsPerDecision) {
      const portion = names.slice(at, at + limits.chunkRowsPerDecision);
      const note = (batch: Batch): string[] => noteTold(batch, vaultId, portion, this.#now());
      missing.push(...(await this.#actors.vault(vaultId).ask(note, { accountId })));
    }
    return missing;
  }

  /**
   * Counts a staged list. Throws Refusal `invalid_fields` for a chunk that is not stored; what was counted until then is
   * taken back when the list is discarded.
   */
  async hold({ accountId, vaultId }: ListOwner, storageId: number, list: readonly Chunk[]): Promise<void> {
    const chunks = eachOnce(list);
    for (let at = 0; at < chunks.length; at += limits.chunkRowsPerDecision) {
      const portion = chunks.slice(at, at + limits.chunkRowsPerDecision);
      await this.#actors.vault(vaultId).ask(
        (batch): void => {
          const row = batch.get(stagedPieces, [storageId]);
          if (row === undefined) throw missingChunks(portion.map(({ sha256 }) => sha256));
          holdChunks(batch, vaultId, portion);
          const held = { vault_id: vaultId, chunks: at + portion.length };
          batch.put(stagedPieces, [storageId], { ...row, held });
        },
        { accountId },
      );
    }
  }

  /** Within a decision: stages a list again that has lost its last version or conflict, for `PieceStaging.discard`. */
  orphan(batch: Batch, vaultId: string, storageId: number): void {
    const held = { vault_id: vaultId, chunks: limits.fileChunksMax };
    batch.put(stagedPieces, [storageId], { started_at: new Date().toISOString(), held });
  }

  /** Takes back what a staged list counts, from its end. Without its text, nothing is known of its chunks: they stay. */
  async release(storageId: number, { held }: StagedRecord): Promise<void> {
    if (held === undefined) return;
    const vaultId = held.vault_id;
    const chunks = heldOf(held, this.#store.get(pieces, [storageId, 0]));
    for (let end = chunks.length; end > 0; end -= limits.chunkRowsPerDecision) {
      const from = Math.max(0, end - limits.chunkRowsPerDecision);
      await this.#actors.vault(vaultId).ask((batch): void => {
        const row = batch.get(stagedPieces, [storageId]);
        // Somebody else has taken these back.
        if (row?.held === undefined || row.held.chunks < end) return;
        releaseChunks(batch, vaultId, chunks.slice(from, end), this.#now());
        batch.put(stagedPieces, [storageId], { ...row, held: { ...row.held, chunks: from } });
      });
    }
  }
}

/** The chunks that count a staged list. `text`: its only piece. */
export function heldOf({ chunks }: { readonly chunks: number }, text: Uint8Array | undefined): readonly Chunk[] {
  const list = text === undefined ? [] : (readChunkList(Buffer.from(text).toString('latin1')) ?? []);
  return eachOnce(list).slice(0, chunks);
}
