/**
 * Owns how a plan becomes bytes while it is sent: each read takes one pack, a few versions or one piece from the store, and
 * puts together what is adjacent. Nothing is kept between two reads, so a stalled reader holds no bytes.
 */
import type { SeekableRun } from '../../http/reply/byte-run.ts';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { packBytes } from '../log/pack-records.ts';
import { pieces, versions } from '../log/records.ts';
import { CONTENT_CLOSE, lineOf, readVersionHead } from '../log/version.ts';
import { type Plan, type PlanPart, partAt } from './plan.ts';

type Part<K extends PlanPart['kind']> = Extract<PlanPart, { kind: K }>;

export class PlanRuns {
  readonly #store: Store;
  /** Where adjacent versions are put together; used up before the next read, whichever plan that is of. */
  readonly #scratch = new Uint8Array(limits.packBytesMax);

  constructor(store: Store) {
    this.#store = store;
  }

  /** The lines of a plan. `close` is called once nobody reads them any more. */
  of(vaultId: string, plan: Plan, close: () => void): SeekableRun {
    return {
      bytes: plan.bytes,
      at: (offset) => this.#read(vaultId, plan, offset),
      close,
    };
  }

  #read(vaultId: string, plan: Plan, offset: number): Uint8Array {
    const index = partAt(plan, offset);
    const part = plan.parts[index];
    if (part === undefined) throw new Error('a plan was read behind its end');
    const inside = offset - (plan.starts[index] ?? 0);
    switch (part.kind) {
      case 'pack':
        return this.#readPack(part, inside);
      case 'versions':
        return this.#readVersions(vaultId, part, inside);
      case 'long':
        return this.#readLong(vaultId, part, inside);
    }
  }

  #readPack({ packId, runs }: Part<'pack'>, inside: number): Uint8Array {
    const bytes = this.#store.view(packBytes, [packId]);
    if (bytes === undefined) throw missing();
    if (runs === undefined) return bytes.subarray(inside);
    // The live lines move together within the store's read buffer, which is overwritten by the next read anyway.
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
      const line = lineOf(this.#version(vaultId, seqs[index] ?? 0));
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

  #readLong(vaultId: string, { seq, bytes }: Part<'long'>, inside: number): Uint8Array {
    const version = this.#version(vaultId, seq);
    const { storageId } = readVersionHead(version);
    const line = lineOf(version);
    if (inside < line.length) return line.subarray(inside);
    const inPieces = inside - line.length;
    const closing = inside - (bytes - CONTENT_CLOSE.length);
    // A copy: the caller may change what it is given.
    if (closing >= 0) return Uint8Array.from(CONTENT_CLOSE.subarray(closing));
    const piece = this.#store.view(pieces, [storageId, Math.floor(inPieces / limits.pieceBytes)]);
    if (piece === undefined) throw missing();
    return piece.subarray(inPieces % limits.pieceBytes);
  }

  #version(vaultId: string, seq: number): Uint8Array {
    const bytes = this.#store.view(versions, [vaultId, seq]);
    if (bytes === undefined) throw missing();
    return bytes;
  }
}

/** The first place whose value is above a number, in rising values. */
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
  return new Error('what a pull has chosen is not in the store; run cairn verify');
}
