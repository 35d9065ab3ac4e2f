/**
 * Reads the bytes of a plan while it is sent: each read loads one pack, a few versions or one piece from the store, and
 * joins adjacent lines. Nothing is kept between two reads but a running hash, so a stalled reader holds no bytes.
 */
import type { Refusal } from '../../common/fault.ts';
import type { SeekableRun } from '../../http/reply/byte-run.ts';
import { limits } from '../../limits/service.ts';
import type { Damage } from '../../store/data-file/damage.ts';
import { DamagedRow } from '../../store/row-sums.ts';
import type { Store } from '../../store/store.ts';
import { readChunkList } from '../log/large-content.ts';
import { packBytes } from '../log/pack-records.ts';
import { pieces, versions } from '../log/records.ts';
import { areWholeLines, isWholeVersion } from '../log/stored-content.ts';
import { briefLineOf, CONTENT_CLOSE, readVersionHead, versionLine, versionSha256 } from '../log/version.ts';
import { LongCheck, WholeContents } from './long-checks.ts';
import { type Plan, type PlanPart, partAt } from './plan.ts';

type Part<K extends PlanPart['kind']> = Extract<PlanPart, { kind: K }>;

export interface PlanRunsOptions {
  readonly store: Store;
  readonly damage: Damage;
  /** Called for a vault with a damaged pack; its versions may still be intact. */
  readonly onDamagedPack: (vaultId: string) => void;
}

export class PlanRuns {
  readonly #options: PlanRunsOptions;
  readonly #store: Store;
  /** Packs whose lines were found intact. */
  readonly #whole = new Set<number>();
  readonly #wholeContents = new WholeContents();
  /** Buffer for joining adjacent versions; its bytes are consumed before the next read of any plan. */
  readonly #scratch = new Uint8Array(limits.packBytesMax);

  constructor(options: PlanRunsOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  /** Returns the lines of a plan as a stream. `close` is called once they are no longer read. */
  of(vaultId: string, plan: Plan, close: () => void): SeekableRun {
    const long: { at?: LongCheck } = {};
    return {
      bytes: plan.bytes,
      at: (offset) => this.#read(vaultId, plan, offset, long),
      close,
    };
  }

  #read(vaultId: string, plan: Plan, offset: number, long: { at?: LongCheck }): Uint8Array {
    const index = partAt(plan, offset);
    const part = plan.parts[index];
    if (part === undefined) throw new Error('a plan was read after its end');
    const inside = offset - (plan.starts[index] ?? 0);
    switch (part.kind) {
      case 'pack':
        return this.#readPack(vaultId, part, inside);
      case 'versions':
        return this.#readVersions(vaultId, part, inside);
      case 'brief':
        return briefLineOf(this.#version(vaultId, part.seq)).subarray(inside);
      case 'long':
        return this.#readLong(vaultId, part, inside, long);
    }
  }

  #readPack(vaultId: string, { packId, runs }: Part<'pack'>, inside: number): Uint8Array {
    const bytes = this.#packBytes(vaultId, packId);
    if (inside === 0) this.#checkPack(vaultId, packId, bytes);
    if (runs === undefined) return bytes.subarray(inside);
    // Live lines are moved together within the store's read buffer: the next read overwrites it anyway.
    let skipped = 0;
    let filled = 0;
    for (let index = 0; index < runs.length; index += 2) {
      const [from, to] = [runs[index] ?? 0, runs[index + 1] ?? 0];
      const start = Math.min(from + Math.max(0, inside - skipped), to);
      skipped += to - from;
      bytes.copyWithin(filled, start, to);
      filled += to - start;
    }
    return bytes.subarray(0, filled);
  }

  #readVersions(vaultId: string, { seqs, ends }: Part<'versions'>, inside: number): Uint8Array {
    let index = firstAbove(ends, inside);
    let skip = inside - (ends[index - 1] ?? 0);
    let filled = 0;
    for (; index < seqs.length; index += 1) {
      const seq = seqs[index] ?? 0;
      const version = this.#version(vaultId, seq);
      if (!isWholeVersion(version, nothing)) throw this.#damaged(vaultId, seq);
      const line = versionLine(version);
      if (line.length !== (ends[index] ?? 0) - (ends[index - 1] ?? 0)) throw missing();
      const wanted = line.subarray(skip);
      skip = 0;
      if (filled + wanted.length > this.#scratch.length) {
        if (filled === 0) return wanted;
        break;
      }
      this.#scratch.set(wanted, filled);
      filled += wanted.length;
    }
    return this.#scratch.subarray(0, filled);
  }

  #packBytes(vaultId: string, packId: number): Uint8Array {
    let bytes: Uint8Array | undefined;
    try {
      bytes = this.#store.view(packBytes, [packId]);
    } catch (error) {
      if (error instanceof DamagedRow) throw this.#damagedPack(vaultId, packId);
      throw error;
    }
    if (bytes === undefined) throw missing();
    return bytes;
  }

  /** Checks every line of a pack at its first read since the start; each read checks its checksum. */
  #checkPack(vaultId: string, packId: number, bytes: Uint8Array): void {
    if (this.#whole.has(packId)) return;
    if (!areWholeLines(bytes)) throw this.#damagedPack(vaultId, packId);
    this.#whole.add(packId);
    for (const oldest of this.#whole) if (this.#whole.size > limits.packsRemembered) this.#whole.delete(oldest);
  }

  #damagedPack(vaultId: string, packId: number): Refusal {
    this.#options.onDamagedPack(vaultId);
    return this.#options.damage.note('pack', { vault_id: vaultId, pack_id: packId });
  }

  #readLong(vaultId: string, { seq, bytes }: Part<'long'>, inside: number, long: { at?: LongCheck }): Uint8Array {
    const version = this.#version(vaultId, seq);
    const { storageId, encoding } = readVersionHead(version);
    const line = versionLine(version);
    if (encoding === 'chunks') return this.#readChunked(vaultId, seq, { line, storageId, bytes }, inside);
    const content = { storageId, encoding, sha256: versionSha256(version) };
    if (storageId === 0 && inside === 0 && !isWholeVersion(version, nothing)) throw this.#damaged(vaultId, seq);
    if (inside < line.length) return line.subarray(inside);
    const inPieces = inside - line.length;
    const closing = inside - (bytes - CONTENT_CLOSE.length);
    if (closing >= 0 && long.at?.isOf(content) === true && !long.at.isWhole()) throw this.#damaged(vaultId, seq);
    // A copy: the caller may change the returned bytes.
    if (closing >= 0) return Uint8Array.from(CONTENT_CLOSE.subarray(closing));
    const piece = this.#store.view(pieces, [storageId, Math.floor(inPieces / limits.pieceBytes)]);
    if (long.at?.isOf(content) !== true) long.at = new LongCheck(content, this.#wholeContents);
    const given = piece === undefined ? undefined : long.at.next(piece, inPieces);
    if (given === undefined) throw this.#damaged(vaultId, seq);
    return given;
  }

  /** A large file: its list of chunks is one piece, which proves itself. */
  #readChunked(vaultId: string, seq: number, { line, storageId, bytes }: ChunkedLine, inside: number): Uint8Array {
    if (inside < line.length) return line.subarray(inside);
    const closing = inside - (bytes - CONTENT_CLOSE.length);
    if (closing >= 0) return Uint8Array.from(CONTENT_CLOSE.subarray(closing));
    const list = this.#store.view(pieces, [storageId, 0]);
    if (list === undefined) throw this.#damaged(vaultId, seq);
    if (inside === line.length && readChunkList(Buffer.from(list).toString('latin1')) === undefined) {
      throw this.#damaged(vaultId, seq);
    }
    return list.subarray(inside - line.length);
  }

  #damaged(vaultId: string, seq: number) {
    return this.#options.damage.note('version', { vault_id: vaultId, seq });
  }

  #version(vaultId: string, seq: number): Uint8Array {
    const bytes = this.#store.view(versions, [vaultId, seq]);
    if (bytes === undefined) throw missing();
    return bytes;
  }
}

interface ChunkedLine {
  /** Up to its content. */
  readonly line: Uint8Array;
  readonly storageId: number;
  /** Of the whole line. */
  readonly bytes: number;
}

/** For a version without pieces: no bytes. */
const nothing = () => new Uint8Array(0);

/** Returns the index of the first value above a number. `values` must be ascending. */
function firstAbove(values: readonly number[], wanted: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) > wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}

function missing(): Error {
  return new Error('what a pull has chosen is not in the store; run `cairn verify`');
}
