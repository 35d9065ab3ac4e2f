/** Imports the chunks of large files: each is read, hashed and staged once a vault, and its row written with the vault. */
import type { ArchiveReader } from '../../archive/reader.ts';
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { startFileDigest } from '../../pool/digest.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Store } from '../../store/store.ts';
import { bytesOfChunks, type Chunk } from '../../text/chunk-list.ts';
import { eachOnce } from '../contents/chunk-refs.ts';
import type { FileDigest } from '../contents/chunk-store.ts';
import type { PieceStaging } from '../contents/staging.ts';
import type { LogChange } from '../log/change.ts';
import { type ChunkRecord, fileChunks } from '../log/records.ts';

export interface ImportedChunksOptions {
  readonly archive: ArchiveReader;
  readonly store: Store;
  readonly staging: PieceStaging;
}

export class ImportedChunks {
  readonly #options: ImportedChunksOptions;
  readonly #rows = new Map<string, ChunkRecord>();

  constructor(options: ImportedChunksOptions) {
    this.#options = options;
  }

  /** Stages the chunks of a new list, and hashes the file that they make. Throws Refusal `storage_full`. */
  async hold(list: readonly Chunk[], nowMs: number): Promise<FileDigest> {
    const sizeBytes = bytesOfChunks(list);
    const digest = startFileDigest(sizeBytes);
    for (const chunk of list) {
      const parts: Buffer[] = [];
      for await (const part of this.#options.archive.blob(chunk.sha256, chunk.bytes, limits.pieceBytes)) {
        digest.update(part);
        if (!this.#rows.has(chunk.sha256)) parts.push(Buffer.from(part));
      }
      if (parts.length > 0) await this.#stage(chunk, Buffer.concat(parts), nowMs);
    }
    for (const { sha256: name } of eachOnce(list)) {
      const row = this.#rows.get(name);
      if (row !== undefined) this.#rows.set(name, { ...row, holders: row.holders + 1 });
    }
    return { sizeBytes, ...digest.finish() };
  }

  /** The rows to write, in portions for one decision each. */
  *portions(): Generator<readonly (readonly [sha256: string, row: ChunkRecord])[]> {
    const rows = [...this.#rows];
    for (let at = 0; at < rows.length; at += limits.sweepTurnRows) yield rows.slice(at, at + limits.sweepTurnRows);
  }

  /** Adopts the staged bytes, within the decision that creates the account. */
  publish(batch: Batch): void {
    for (const row of this.#rows.values()) this.#options.staging.adopt(batch, row.storage_id);
  }

  async discard(): Promise<void> {
    for (const row of this.#rows.values()) await this.#options.staging.discard(row.storage_id);
  }

  async #stage({ sha256, bytes }: Chunk, content: Uint8Array, nowMs: number): Promise<void> {
    const { staging, store } = this.#options;
    // Refused before the disk is full for the other accounts.
    if (store.diskFreeBytes() < bytes + limits.diskFreeBytesMin) throw new Refusal({ kind: 'storage_full' });
    const storageId = await staging.stage(content);
    this.#rows.set(sha256, { storage_id: storageId, bytes, holders: 0, since_ms: nowMs });
  }
}

/** Within a decision: writes rows of chunks into a vault, and counts them. */
export function putChunks(
  batch: Batch,
  change: Pick<LogChange, 'countChunk'>,
  vaultId: string,
  rows: readonly (readonly [sha256: string, row: ChunkRecord])[],
): void {
  for (const [sha256, row] of rows) {
    batch.put(fileChunks, [vaultId, sha256], row);
    change.countChunk(row.bytes);
  }
}
