/**
 * Checks long contents while they are sent. Its first pull hashes a content, which takes ten milliseconds a MiB, and the
 * checksums of its pieces are kept when the hash matches. Later reads compare those. Pulls that read a content for the
 * first time together hash it once: each hashes only what none of them has read yet, and compares the checksums of the
 * pieces that another one hashed.
 */
import { crc32 } from 'node:zlib';
import { limits } from '../../limits/service.ts';
import { EscapedHash } from '../log/stored-content.ts';
import type { WholeEncoding } from '../log/version.ts';

/** What is read: the content of a version, in pieces. */
export interface ContentInPieces {
  readonly storageId: number;
  readonly encoding: WholeEncoding;
  readonly sha256: string;
}

interface WholeContent {
  readonly sha256: string;
  /** CRC-32 of each piece. */
  readonly sums: readonly number[];
}

/** The hash of a content as far as any pull has read it. */
class SharedHash {
  readonly sums: number[] = [];
  readonly #hash: EscapedHash;
  #bytes = 0;

  constructor(encoding: WholeEncoding) {
    this.#hash = new EscapedHash(encoding);
  }

  /** Bytes hashed, from the beginning. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Hashes what is new of the bytes at a position that is not behind them. False: they are no inside of a JSON string. */
  take(given: Uint8Array, position: number): boolean {
    const end = position + given.length;
    if (end <= this.#bytes) return true;
    try {
      this.#hash.update(given.subarray(this.#bytes - position));
    } catch {
      return false;
    }
    this.#bytes = end;
    return true;
  }

  digest(): string {
    return this.#hash.digest();
  }
}

interface Running {
  readonly sha256: string;
  readonly hash: SharedHash;
}

/** The long contents whose hash matched once since the start, and those that are being hashed. */
export class WholeContents {
  readonly #known = new Map<number, WholeContent>();
  readonly #running = new Map<number, Running>();

  /** Returns the checksums of the pieces of a content that matched its hash; undefined when it is not known. */
  sumsOf({ storageId, sha256 }: ContentInPieces): readonly number[] | undefined {
    const known = this.#known.get(storageId);
    return known?.sha256 === sha256 ? known.sums : undefined;
  }

  /** The hash that all pulls of a content share until one of them has read the whole. */
  hashOf({ storageId, sha256, encoding }: ContentInPieces): SharedHash {
    const running = this.#running.get(storageId);
    if (running?.sha256 === sha256) return running.hash;
    const hash = new SharedHash(encoding);
    this.#running.set(storageId, { sha256, hash });
    dropOldest(this.#running);
    return hash;
  }

  /** The hash is compared, or cannot go on. `sums`: of a content that matched. */
  settle({ storageId, sha256 }: ContentInPieces, hash: SharedHash, sums?: readonly number[]): void {
    if (this.#running.get(storageId)?.hash === hash) this.#running.delete(storageId);
    if (sums === undefined) return;
    this.#known.set(storageId, { sha256, sums });
    dropOldest(this.#known);
  }
}

function dropOldest(contents: Map<number, unknown>): void {
  for (const oldest of contents.keys()) {
    if (contents.size <= limits.longContentsRemembered) break;
    contents.delete(oldest);
  }
}

/** The check of one content during one pull. Reads go forward; bytes that were read before may be read again. */
export class LongCheck {
  readonly #content: ContentInPieces;
  readonly #whole: WholeContents;
  /** Undefined for a content that is known. */
  readonly #hash: SharedHash | undefined;
  readonly #sums: readonly number[];
  /** Pieces that this pull compared, or was the first to read. */
  #compared = 0;

  constructor(content: ContentInPieces, whole: WholeContents) {
    this.#content = content;
    this.#whole = whole;
    const known = whole.sumsOf(content);
    this.#hash = known === undefined ? whole.hashOf(content) : undefined;
    this.#sums = known ?? this.#hash?.sums ?? [];
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
    const inside = position % limits.pieceBytes;
    if (!this.#compare(piece, Math.floor(position / limits.pieceBytes))) return undefined;
    if (this.#hash === undefined) return piece.subarray(inside);
    const ready = this.#hash.bytes - position;
    const given = piece.subarray(inside, inside + (ready > 0 ? ready : limits.hashedStepBytes));
    if (this.#hash.take(given, position)) return given;
    this.#whole.settle(this.#content, this.#hash);
    return undefined;
  }

  /** At the end: true when the whole content matched. */
  isWhole(): boolean {
    if (this.#hash === undefined) return true;
    const isWhole = this.#hash.digest() === this.#content.sha256;
    this.#whole.settle(this.#content, this.#hash, isWhole ? this.#hash.sums : undefined);
    return isWhole;
  }

  /** Compares a piece, once, with what was hashed of it. */
  #compare(piece: Uint8Array, index: number): boolean {
    if (index < this.#compared) return true;
    this.#compared = index + 1;
    const sum = crc32(piece);
    if (index === this.#sums.length) this.#hash?.sums.push(sum);
    return sum === this.#sums[index];
  }
}
