/**
 * Knows the hashes of the large files of a folder: those above the size that is read into memory. Each is hashed once, and
 * again after its metadata changed.
 */
import type { Stats } from 'node:fs';
import { CHUNK_BOUNDS } from '../../../limits/large-file.ts';
import { type Chunk, formatChunkList, parseChunkList } from '../../../text/chunk-list.ts';
import { isAsSeen, isLarge, lookIfReadable, type SeenFile, seenOf } from './file.ts';
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

export class LargeFiles {
  readonly #known = new Map<string, Known>();
  readonly #timeMs: () => number;
  /** Since when a file did not stand still (monotonic, milliseconds). */
  readonly #restless = new Map<string, number>();

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

  /** Hashes a file, unless its chunks are known. Undefined when it is gone, or changed meanwhile. Throws Unreadable. */
  async cut(absolute: string): Promise<CutFile | undefined> {
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
    const hashed = await hashLarge(absolute);
    if (hashed === undefined) return undefined;
    const { sha256, chunks } = hashed;
    const seen = seenOf(hashed.stats, nowMs);
    this.#known.set(absolute, { sha256, seen, list: formatChunkList(chunks) });
    return { absolute, sha256, seen, chunks };
  }

  /** Notes whether a file stands still. Returns the milliseconds since it does not. */
  noteRest(absolute: string, stands: boolean): number {
    if (stands) this.#restless.delete(absolute);
    else if (!this.#restless.has(absolute)) this.#restless.set(absolute, performance.now());
    return performance.now() - (this.#restless.get(absolute) ?? performance.now());
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
