/**
 * Knows the hashes of the large files of a folder: those above the size that is read into memory. Each is hashed once, and
 * again after its metadata changed; under a watch beside its syncs, so that small files never wait for that.
 */
import type { Stats } from 'node:fs';
import { CHUNK_BOUNDS } from '../../../limits/large-file.ts';
import { limits } from '../../../limits/service.ts';
import { type Chunk, formatChunkList, parseChunkList } from '../../../text/chunk-list.ts';
import { isAsSeen, isLarge, lookIfReadable, type SeenFile, seenOf, Unreadable } from './file.ts';
import { hashLarge } from './hash-large.ts';

interface Known {
  readonly sha256: string;
  readonly seen: SeenFile;
  /** The list of its chunks as text; undefined when it was not cut. */
  readonly list: string | undefined;
}

/** A file with its content as chunks. */
export interface CutFile {
  readonly absolute: string;
  readonly sha256: string;
  readonly seen: SeenFile;
  readonly chunks: readonly Chunk[];
}

type Moved = Pick<Stats, 'size' | 'mtimeMs' | 'ino'>;

/** Why a file could not be hashed, and when that was tried (monotonic, milliseconds). */
interface FailedHash {
  readonly reason: string;
  readonly seen: SeenFile;
  readonly atMs: number;
}

export class LargeFiles {
  readonly #known = new Map<string, Known>();
  readonly #timeMs: () => number;
  /** Since when a file does not stand still (monotonic, milliseconds). */
  readonly #restless = new Map<string, number>();
  /** Files to hash beside the syncs, and the one that is hashed so. */
  readonly #wanted = new Set<string>();
  #hashing: string | undefined;
  readonly #failed = new Map<string, FailedHash>();

  /** `timeMs`: the time by the clock of the disk (milliseconds since 1970). */
  constructor(timeMs: () => number) {
    this.#timeMs = timeMs;
  }

  /** The hash of a file with this metadata; undefined when it is not known. */
  sha256Of(absolute: string, stats: Stats): string | undefined {
    return this.seenAs(absolute, stats)?.sha256;
  }

  seenAs(absolute: string, stats: Stats): Pick<Known, 'sha256' | 'seen'> | undefined {
    const known = this.#known.get(absolute);
    if (known === undefined || !isAsSeen(stats, known.seen)) return undefined;
    return { sha256: known.sha256, seen: known.seen };
  }

  /** Notes a hash known from elsewhere. */
  note(absolute: string, sha256: string, seen: SeenFile): void {
    const before = this.#known.get(absolute);
    this.#known.set(absolute, { sha256, seen, list: before?.sha256 === sha256 ? before.list : undefined });
  }

  /** Follows a rename by this process; `before`: the metadata from before it. */
  moved(from: string, to: string, before: Stats | undefined): void {
    const known = before === undefined || !isLarge(before) ? undefined : this.#known.get(from);
    const after = known && lookIfReadable(to);
    this.#known.delete(from);
    if (known === undefined || after === undefined || before === undefined) return;
    if (isAsSeen(before, known.seen) && isSameBytes(before, after)) {
      this.#known.set(to, { ...known, seen: seenOf(after, known.seen.hashedMs) });
    }
  }

  /**
   * Hashes a file, unless its chunks are known. Undefined when it is gone, changed meanwhile, or the signal ended it. Throws
   * Unreadable.
   */
  async cut(absolute: string, signal?: AbortSignal): Promise<CutFile | undefined> {
    const stats = lookIfReadable(absolute);
    const known = this.#known.get(absolute);
    if (stats !== undefined && known?.list !== undefined && isAsSeen(stats, known.seen)) {
      return {
        absolute,
        sha256: known.sha256,
        seen: known.seen,
        chunks: parseChunkList(known.list, CHUNK_BOUNDS) ?? [],
      };
    }
    const nowMs = this.#timeMs();
    const hashed = await hashLarge(absolute, signal);
    if (hashed === undefined) return undefined;
    const { sha256, chunks } = hashed;
    const seen = seenOf(hashed.stats, nowMs);
    this.#known.set(absolute, { sha256, seen, list: formatChunkList(chunks) });
    return { absolute, sha256, seen, chunks };
  }

  /** Number of files that wait to be hashed beside the syncs, or are hashed now. */
  get waiting(): number {
    return this.#wanted.size + (this.#hashing === undefined ? 0 : 1);
  }

  /** Milliseconds until a file stands still; 0 or less when it does. */
  restMs({ mtimeMs }: Pick<Stats, 'mtimeMs'>): number {
    const restMs = limits.clientLargeStillMs - (this.#timeMs() - mtimeMs);
    // A time that is ahead of the clock tells nothing.
    return restMs <= limits.clientLargeStillMs ? restMs : 0;
  }

  /**
   * Queues a file to be hashed beside the syncs, once it stands still. Returns the milliseconds since it does not. Throws
   * Unreadable for one that could not be hashed; it is tried again at times.
   */
  want(absolute: string, stats: Stats): number {
    if (this.restMs(stats) > 0) return this.#noteRestless(absolute);
    const failed = this.#failed.get(absolute);
    const isSame = failed !== undefined && isAsSeen(stats, failed.seen);
    const isPausing = isSame && performance.now() - failed.atMs < limits.clientRetryMsMax;
    if (!isPausing && this.#hashing !== absolute) this.#wanted.add(absolute);
    if (isSame) throw new Unreadable(failed.reason);
    return this.#restless.has(absolute) ? this.#noteRestless(absolute) : 0;
  }

  /** Forgets that a file did not stand still, or could not be hashed: it is gone, or large no longer. */
  forget(absolute: string): void {
    this.#restless.delete(absolute);
    this.#failed.delete(absolute);
  }

  /** True for a file that has to be looked at again: it did not stand still, and is not queued to be hashed. */
  isRestless(absolute: string): boolean {
    return this.#restless.has(absolute) && !this.#wanted.has(absolute) && this.#hashing !== absolute;
  }

  /** Hashes the queued files, one after another, until the signal ends it. `onHashed` is called after each. */
  async hashWanted({
    signal,
    onHashed,
  }: {
    readonly signal: AbortSignal;
    readonly onHashed: () => boolean;
  }): Promise<void> {
    for (const absolute of this.#wanted) {
      this.#wanted.delete(absolute);
      this.#hashing = absolute;
      try {
        await this.#hashOne(absolute, signal);
      } finally {
        this.#hashing = undefined;
      }
      if (signal.aborted || !onHashed()) return;
    }
  }

  async #hashOne(absolute: string, signal: AbortSignal): Promise<void> {
    const stats = lookIfReadable(absolute);
    try {
      const cut = await this.cut(absolute, signal);
      this.#failed.delete(absolute);
      const isThere = lookIfReadable(absolute) !== undefined;
      if (cut === undefined && isThere && !signal.aborted) this.#noteRestless(absolute);
      else this.#restless.delete(absolute);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#restless.delete(absolute);
      if (stats === undefined) return;
      this.#failed.set(absolute, { reason: error.message, seen: seenOf(stats, 0), atMs: performance.now() });
    }
  }

  #noteRestless(absolute: string): number {
    const nowMs = performance.now();
    const sinceMs = this.#restless.get(absolute) ?? nowMs;
    this.#restless.set(absolute, sinceMs);
    return nowMs - sinceMs;
  }

  /** Absolute path of a file that has this content, as far as its metadata tells. */
  placeOf(sha256: string): string | undefined {
    for (const [absolute, known] of this.#known) {
      if (known.sha256 !== sha256) continue;
      const stats = lookIfReadable(absolute);
      if (stats !== undefined && isAsSeen(stats, known.seen)) return absolute;
      this.#known.delete(absolute);
    }
    return undefined;
  }

  /** Gives up the chunks of a content that the hub has; its hash stays known. */
  forgetChunks(sha256: string): void {
    for (const [absolute, known] of this.#known) {
      if (known.sha256 === sha256) this.#known.set(absolute, { ...known, list: undefined });
    }
  }
}

/** True when a file was renamed and not written: a rename changes only the third of its times. */
export function isSameBytes(before: Moved, after: Moved): boolean {
  return before.size === after.size && before.mtimeMs === after.mtimeMs && before.ino === after.ino;
}
