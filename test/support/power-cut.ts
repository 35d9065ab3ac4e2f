/**
 * Builds what a disk may hold after a power cut: every flushed write, and of those that were not flushed yet any part, in
 * pages or sectors, whatever their order was. (The method of ALICE, OSDI 2014, for one file.)
 */
import type { DiskTrace, DiskWrite } from './disk-trace.ts';

const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;

/** Which of the unflushed pieces reached the disk. */
export const FATES = ['none', 'all', 'some pages', 'some sectors', 'all pages but one', 'one page'] as const;

export type Fate = (typeof FATES)[number];

export interface CrashState {
  readonly moment: number;
  readonly fate: Fate;
  readonly unflushed: number;
  readonly image: Buffer;
  /** Whether the answer of this request had begun to leave. */
  readonly isAnswered: (requestId: string) => boolean;
}

export class PowerCuts {
  readonly #base: Buffer;
  readonly #trace: DiskTrace;
  readonly #random: () => number;
  /** What the disk holds for sure, moved on from moment to moment. */
  #durable: Buffer;
  #applied = new Set<DiskWrite>();

  /** `random`: from 0 to below 1. */
  constructor(base: Buffer, trace: DiskTrace, random: () => number) {
    this.#base = base;
    this.#durable = Buffer.from(base);
    this.#trace = trace;
    this.#random = random;
  }

  /** Every moment at which the state of the disk is another than before. */
  moments(): number[] {
    const { writes, flushes, answers } = this.#trace;
    const all = [...writes, ...flushes].flatMap(({ begun, ended }) => [begun, ended]);
    return [...new Set([...all, ...answers.values()])].filter(Number.isFinite).toSorted((a, b) => a - b);
  }

  /** What the disk holds when every write reached it. */
  whole(): Buffer {
    return this.#trace.writes.reduce<Buffer>(
      (image, { offset, bytes }) => put(image, offset, bytes),
      Buffer.from(this.#base),
    );
  }

  /** Whether the trace holds the answer of this request. */
  hasAnswer(requestId: string): boolean {
    return this.#trace.answers.has(requestId);
  }

  /** The state at a moment. Moments must rise from call to call. */
  at(moment: number, fate: Fate): CrashState {
    for (const write of this.#trace.writes) {
      if (this.#applied.has(write) || !this.#isDurable(write, moment)) continue;
      this.#durable = put(this.#durable, write.offset, write.bytes);
      this.#applied.add(write);
    }
    const unflushed = this.#trace.writes.filter((write) => write.begun <= moment && !this.#applied.has(write));
    let image: Buffer = Buffer.from(this.#durable);
    for (const { offset, bytes } of this.#survivors(unflushed, fate)) image = put(image, offset, bytes);
    const { answers } = this.#trace;
    const isAnswered = (id: string) => (answers.get(id) ?? Number.POSITIVE_INFINITY) <= moment;
    return { moment, fate, unflushed: unflushed.length, image, isAnswered };
  }

  #isDurable(write: DiskWrite, moment: number): boolean {
    if (write.isSynchronous) return write.ended <= moment;
    return this.#trace.flushes.some((flush) => flush.begun >= write.ended && flush.ended <= moment);
  }

  #survivors(unflushed: readonly DiskWrite[], fate: Fate): Piece[] {
    // A meta page is less than a sector, and a sector is written or it is not.
    const pages = unflushed.flatMap((write) => piecesOf(write, PAGE_BYTES));
    const chosen = Math.floor(this.#random() * pages.length);
    switch (fate) {
      case 'none':
        return [];
      case 'all':
        return pages;
      case 'some pages':
        return pages.filter(() => this.#random() < 0.5);
      case 'some sectors':
        return unflushed.flatMap((write) => piecesOf(write, SECTOR_BYTES)).filter(() => this.#random() < 0.5);
      case 'all pages but one':
        return pages.filter((_, at) => at !== chosen);
      case 'one page':
        return pages.filter((_, at) => at === chosen);
    }
  }
}

interface Piece {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Cut at multiples of `size` within the file. */
function piecesOf({ offset, bytes }: DiskWrite, size: number): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + size - ((offset + at) % size));
    pieces.push({ offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return pieces;
}

/** Bytes that no write reached read as zeros, as a hole does. */
function put(image: Buffer, offset: number, bytes: Buffer): Buffer {
  const end = offset + bytes.length;
  const target = end > image.length ? Buffer.concat([image, Buffer.alloc(end - image.length)]) : image;
  bytes.copy(target, offset);
  return target;
}
