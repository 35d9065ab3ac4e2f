/**
 * Builds the plan of what a pull sends: ranges of packs and single versions, ordered by sequence number. A plan
 * contains no lines, so a stalled reader costs little; everything in it stays readable until the plan is closed. Pure.
 */

/** A contiguous part of the bytes to send. */
export type PlanPart =
  /** Lines of a pack: all, or the byte ranges in `runs`, pairs of a start and an end. */
  | { readonly kind: 'pack'; readonly bytes: number; readonly packId: number; readonly runs: Uint32Array | undefined }
  /** Versions not read from a pack; `ends` are the offsets of the ends of their lines. */
  | {
      readonly kind: 'versions';
      readonly bytes: number;
      readonly seqs: readonly number[];
      readonly ends: readonly number[];
    }
  /** One long version, whose content may be in pieces. */
  | { readonly kind: 'long'; readonly bytes: number; readonly seq: number }
  /** One long version without its content. */
  | { readonly kind: 'brief'; readonly bytes: number; readonly seq: number };

export interface Plan {
  readonly parts: readonly PlanPart[];
  /** The byte offset of each part. */
  readonly starts: Float64Array;
  readonly bytes: number;
  readonly files: number;
  readonly tombstones: number;
  /** Content bytes of the files. */
  readonly sizeBytes: number;
}

export interface PlanLine {
  readonly seq: number;
  readonly lineBytes: number;
  readonly sizeBytes: number;
  readonly deleted: boolean;
}

interface WholePack {
  readonly packId: number;
  readonly packBytes: number;
  readonly lines: number;
  readonly tombstones: number;
  readonly sizeBytes: number;
}

interface OpenPack {
  readonly packId: number;
  readonly runs: number[];
  bytes: number;
}

interface OpenVersions {
  readonly seqs: number[];
  readonly ends: number[];
}

export class PlanBuilder {
  readonly #parts: PlanPart[] = [];
  #pack: OpenPack | undefined;
  #versions: OpenVersions | undefined;
  #files = 0;
  #tombstones = 0;
  #sizeBytes = 0;
  #bytes = 0;

  get lines(): number {
    return this.#files + this.#tombstones;
  }

  get bytes(): number {
    return this.#bytes;
  }

  addPack({ packId, packBytes, lines, tombstones, sizeBytes }: WholePack): void {
    this.#flush();
    if (packBytes > 0) this.#parts.push({ kind: 'pack', bytes: packBytes, packId, runs: undefined });
    this.#bytes += packBytes;
    this.#files += lines - tombstones;
    this.#tombstones += tombstones;
    this.#sizeBytes += sizeBytes;
  }

  /** Adds a line that begins at `offset` of a pack. */
  addPacked(packId: number, offset: number, line: PlanLine): void {
    if (this.#pack?.packId !== packId) {
      this.#flush();
      this.#pack = { packId, runs: [], bytes: 0 };
    }
    const { runs } = this.#pack;
    const end = offset + line.lineBytes;
    if (runs.length > 0 && runs.at(-1) === offset) runs[runs.length - 1] = end;
    else runs.push(offset, end);
    this.#pack.bytes += line.lineBytes;
    this.#count(line);
  }

  addVersion(line: PlanLine): void {
    if (this.#versions === undefined) {
      this.#flush();
      this.#versions = { seqs: [], ends: [] };
    }
    const { seqs, ends } = this.#versions;
    seqs.push(line.seq);
    ends.push((ends.at(-1) ?? 0) + line.lineBytes);
    this.#count(line);
  }

  /** Adds a long line, whose content may be in pieces. */
  addLong(line: PlanLine): void {
    this.#flush();
    this.#parts.push({ kind: 'long', bytes: line.lineBytes, seq: line.seq });
    this.#count(line);
  }

  addBrief(seq: number, lineBytes: number): void {
    this.#flush();
    this.#parts.push({ kind: 'brief', bytes: lineBytes, seq });
    this.#count({ seq, lineBytes, sizeBytes: 0, deleted: false });
  }

  finish(): Plan {
    this.#flush();
    const starts = new Float64Array(this.#parts.length);
    let at = 0;
    for (const [index, part] of this.#parts.entries()) {
      starts[index] = at;
      at += part.bytes;
    }
    return {
      parts: this.#parts,
      starts,
      bytes: this.#bytes,
      files: this.#files,
      tombstones: this.#tombstones,
      sizeBytes: this.#sizeBytes,
    };
  }

  #count(line: PlanLine): void {
    this.#bytes += line.lineBytes;
    if (line.deleted) this.#tombstones += 1;
    else {
      this.#files += 1;
      this.#sizeBytes += line.sizeBytes;
    }
  }

  /** Closes the part being built. */
  #flush(): void {
    if (this.#pack !== undefined) {
      const { packId, runs, bytes } = this.#pack;
      this.#parts.push({ kind: 'pack', bytes, packId, runs: Uint32Array.from(runs) });
      this.#pack = undefined;
    }
    if (this.#versions !== undefined) {
      const { seqs, ends } = this.#versions;
      this.#parts.push({ kind: 'versions', bytes: ends.at(-1) ?? 0, seqs, ends });
      this.#versions = undefined;
    }
  }
}

/** Returns the index of the part containing a byte offset. Binary search. */
export function partAt({ starts }: Plan, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
