/**
 * Checks long contents while they are sent. The first pull that reads a whole content hashes it, which takes ten
 * milliseconds a MiB, and the checksums of its pieces are kept when the hash matches. Later reads compare those.
 */
import { crc32 } from 'node:zlib';
import { limits } from '../../limits/service.ts';
import { EscapedHash } from '../log/stored-content.ts';
import type { Encoding } from '../log/version.ts';

/** What is read: the content of a version, in pieces. */
export interface ContentInPieces {
  readonly storageId: number;
  readonly encoding: Encoding;
  readonly sha256: string;
}

interface WholeContent {
  readonly sha256: string;
  /** CRC-32 of each piece. */
  readonly sums: readonly number[];
}

/** The long contents whose hash matched once since the start. */
export class WholeContents {
  readonly #known = new Map<number, WholeContent>();

  /** Returns the checksums of the pieces of a content that matched its hash; undefined when it is not known. */
  sumsOf({ storageId, sha256 }: ContentInPieces): readonly number[] | undefined {
    const known = this.#known.get(storageId);
    return known?.sha256 === sha256 ? known.sums : undefined;
  }

  add({ storageId, sha256 }: ContentInPieces, sums: readonly number[]): void {
    this.#known.set(storageId, { sha256, sums });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= limits.longContentsRemembered) break;
      this.#known.delete(oldest);
    }
  }
}

/** The check of one content during one pull. Reads go forward; bytes that were read before may be read again. */
export class LongCheck {
  readonly #content: ContentInPieces;
  readonly #whole: WholeContents;
  readonly #known: readonly number[] | undefined;
  readonly #hash: EscapedHash;
  readonly #sums: number[] = [];
  /** Bytes that were hashed, and pieces that were compared. */
  #hashed = 0;
  #compared = 0;

  constructor(content: ContentInPieces, whole: WholeContents) {
    this.#content = content;
    this.#whole = whole;
    this.#known = whole.sumsOf(content);
    this.#hash = new EscapedHash(content.encoding);
  }

  /** True when this check is about that content. */
  isOf({ storageId, sha256 }: ContentInPieces): boolean {
    return this.#content.storageId === storageId && this.#content.sha256 === sha256;
  }

  /**
   * Returns the bytes of a piece to send next, from a position inside the content; undefined when they are damaged.
   * While they have to be hashed, they are few, so that a turn stays short.
   */
  next(piece: Uint8Array, position: number): Uint8Array | undefined {
    const index = Math.floor(position / limits.pieceBytes);
    const inside = position % limits.pieceBytes;
    if (this.#known !== undefined) {
      if (index >= this.#compared && crc32(piece) !== this.#known[index]) return undefined;
      this.#compared = Math.max(this.#compared, index + 1);
      return piece.subarray(inside);
    }
    if (index === this.#sums.length) this.#sums.push(crc32(piece));
    const given = piece.subarray(inside, inside + limits.replyChunkBytes);
    return this.#take(given, position) ? given : undefined;
  }

  /** At the end: true when the whole content matched. */
  isWhole(): boolean {
    if (this.#known !== undefined) return true;
    if (this.#hash.digest() !== this.#content.sha256) return false;
    this.#whole.add(this.#content, this.#sums);
    return true;
  }

  #take(given: Uint8Array, position: number): boolean {
    const end = position + given.length;
    if (end <= this.#hashed) return true;
    try {
      this.#hash.update(given.subarray(this.#hashed - position));
    } catch {
      // The bytes are not the inside of a JSON string.
      return false;
    }
    this.#hashed = end;
    return true;
  }
}
