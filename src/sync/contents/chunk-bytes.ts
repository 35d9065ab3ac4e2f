/** Reads the bytes of a large file from its chunks, at any offset, one stored piece at a time. */
import { Refusal } from '../../common/fault.ts';
import type { ByteSource } from '../../http/reply/body.ts';
import { limits } from '../../limits/service.ts';
import type { Reader } from '../../store/table.ts';
import { bytesOfChunks, type Chunk } from '../../text/chunk-list.ts';
import { fileChunks, pieces } from '../log/records.ts';

/** A chunk that should be stored whole and is not: `cairn verify` names it. */
export class DamagedChunk extends Refusal {
  constructor() {
    super({ kind: 'damaged' });
  }
}

export class ChunkBytes implements ByteSource {
  readonly bytesTotal: number;
  readonly #store: Pick<Reader, 'get' | 'view'>;
  readonly #vaultId: string;
  readonly #chunks: readonly Chunk[];
  /** Offsets of the ends of the chunks. */
  readonly #ends: readonly number[];
  #at = 0;

  constructor(store: Pick<Reader, 'get' | 'view'>, vaultId: string, listed: readonly Chunk[]) {
    this.#store = store;
    this.#vaultId = vaultId;
    this.#chunks = listed;
    let end = 0;
    this.#ends = listed.map(({ bytes }) => {
      end += bytes;
      return end;
    });
    this.bytesTotal = bytesOfChunks(listed);
  }

  /** A view, which the next read of the store overwrites. Throws DamagedChunk for one that is not stored, or not whole. */
  read(offset: number): Uint8Array {
    const index = this.#indexOf(offset);
    const chunk = this.#chunks[index];
    if (chunk === undefined) throw new Error('a file was read after its end');
    const inside = offset - ((this.#ends[index] ?? 0) - chunk.bytes);
    const row = this.#store.get(fileChunks, [this.#vaultId, chunk.sha256]);
    const at = Math.floor(inside / limits.pieceBytes);
    const piece = row && this.#store.view(pieces, [row.storage_id, at]);
    // A piece of another length would be read for ever, or move all that follows.
    if (piece?.length !== Math.min(limits.pieceBytes, chunk.bytes - at * limits.pieceBytes)) {
      throw new DamagedChunk();
    }
    return piece.subarray(inside % limits.pieceBytes);
  }

  /** Reads mostly go forward. */
  #indexOf(offset: number): number {
    if ((this.#ends[this.#at - 1] ?? 0) > offset) this.#at = 0;
    while (this.#at < this.#ends.length && (this.#ends[this.#at] ?? 0) <= offset) this.#at += 1;
    return this.#at;
  }
}
