/** Assembles bodies while they are sent, from text and runs of bytes of known length. */
import { limits } from '../../limits/service.ts';
import type { ByteSource } from './body.ts';

/** Returns the next bytes, valid and writable until the next call, or undefined at the end. */
type ByteReader = () => Uint8Array | undefined;

/** Bytes produced on demand. An unfinished run holds no resources, so there is nothing to close. */
export interface ByteRun {
  /** The exact length. */
  readonly bytes: number;
  /** Starts reading from the beginning. */
  readonly open: () => ByteReader;
}

/** Bytes readable from any offset, so no state is kept between two reads. */
export interface SeekableRun {
  readonly bytes: number;
  /**
   * The available bytes from `offset` on; never empty before the end. The caller may change them. Any next read
   * invalidates them.
   */
  at(offset: number): Uint8Array;
  /** Called once when no more is read. */
  readonly close?: () => void;
}

export type AnyRun = ByteRun | SeekableRun;

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const SPACE = 0x20;
const NOTHING = new Uint8Array(0);

/** A run of the bytes of a text. */
export function runOf(text: string): ByteRun {
  const bytes = Buffer.from(text);
  return {
    bytes: bytes.length,
    open() {
      let given = false;
      return () => {
        if (given) return undefined;
        given = true;
        return bytes;
      };
    },
  };
}

/**
 * Turns lines of JSON into items of an array without parsing them: JSON has no newline inside a value, so each newline
 * ends a line and becomes a comma, and the last one a space. A read may end within a line.
 */
export function itemsOf(lines: AnyRun): AnyRun {
  const total = lines.bytes;
  if (isSeekable(lines)) {
    return { ...lines, at: (offset) => separate(lines.at(offset), offset, total) };
  }
  return {
    bytes: total,
    open() {
      const read = lines.open();
      let offset = 0;
      return () => {
        const given = read();
        if (given === undefined) return undefined;
        const bytes = separate(Uint8Array.from(given), offset, total);
        offset += bytes.length;
        return bytes;
      };
    },
  };
}

/** Replaces the newlines in bytes that start at `offset` of `total`. */
function separate(bytes: Uint8Array, offset: number, total: number): Uint8Array {
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    bytes[at] = offset + at === total - 1 ? SPACE : COMMA;
  }
  return bytes;
}

/** Copies the first bytes of a run, at most `bytesMax`. The run can be read again. */
export function beginningOf(run: AnyRun, bytesMax: number): Buffer {
  const wanted = Math.min(run.bytes, bytesMax);
  const copy = Buffer.allocUnsafe(wanted);
  const read = isSeekable(run) ? undefined : run.open();
  let filled = 0;
  while (filled < wanted) {
    const bytes = isSeekable(run) ? run.at(filled) : read?.();
    if (bytes === undefined || bytes.length === 0) throw wrongLength(run.bytes, filled);
    const taken = bytes.subarray(0, wanted - filled);
    copy.set(taken, filled);
    filled += taken.length;
  }
  return copy;
}

/** Concatenates runs as the body of a reply. Holds only the last bytes of the open run and one chunk. */
export function sourceOf(runs: readonly AnyRun[]): ByteSource {
  return new RunSource(runs);
}

function isSeekable(run: AnyRun): run is SeekableRun {
  return 'at' in run;
}

class RunSource implements ByteSource {
  readonly bytesTotal: number;
  readonly #runs: readonly AnyRun[];
  /** Offset at which each run begins. */
  readonly #starts: readonly number[];
  #index = 0;
  /** Bytes collected from sequential runs; allocated on first use. */
  #chunk: Uint8Array = NOTHING;
  /** Offset of the chunk in the body, and how much of it is filled. */
  #start = 0;
  #filled = 0;
  #reader: ByteReader | undefined;
  /** Bytes read from the open run so far, and those not yet copied to a chunk. */
  #given = 0;
  #rest: Uint8Array = NOTHING;

  constructor(runs: readonly AnyRun[]) {
    this.#runs = runs;
    let total = 0;
    this.#starts = runs.map(({ bytes }) => {
      total += bytes;
      return total - bytes;
    });
    this.bytesTotal = total;
  }

  /** Throws when a run yields more or fewer bytes than declared, or when already sent bytes are requested again. */
  read(offset: number): Uint8Array {
    for (;;) {
      if (offset >= this.#start && offset < this.#start + this.#filled) {
        return this.#chunk.subarray(offset - this.#start, this.#filled);
      }
      const run = this.#runs[this.#index];
      if (run === undefined) return NOTHING;
      if (!isSeekable(run)) this.#fill(offset);
      else if (offset < (this.#starts[this.#index] ?? 0)) throw gone(offset);
      else if (offset < (this.#starts[this.#index] ?? 0) + run.bytes) return this.#at(run, offset);
      else this.#index += 1;
    }
  }

  close(): void {
    for (const run of this.#runs) if (isSeekable(run)) run.close?.();
  }

  #at(run: SeekableRun, offset: number): Uint8Array {
    const inside = offset - (this.#starts[this.#index] ?? 0);
    const bytes = run.at(inside);
    if (bytes.length === 0 || inside + bytes.length > run.bytes) throw wrongLength(run.bytes, inside + bytes.length);
    return bytes;
  }

  /** Fills the next chunk from sequential runs, up to a seekable one. */
  #fill(offset: number): void {
    if (offset !== Math.max(this.#start + this.#filled, this.#starts[this.#index] ?? 0)) throw gone(offset);
    this.#start = offset;
    this.#filled = 0;
    const left = this.bytesTotal - this.#start;
    if (this.#chunk.length === 0) this.#chunk = Buffer.allocUnsafe(Math.min(left, limits.replyChunkBytes));
    while (this.#filled < this.#chunk.length) {
      if (this.#rest.length === 0) {
        const next = this.#next();
        if (next === undefined) break;
        this.#rest = next;
      }
      const taken = this.#rest.subarray(0, this.#chunk.length - this.#filled);
      this.#chunk.set(taken, this.#filled);
      this.#filled += taken.length;
      this.#rest = this.#rest.subarray(taken.length);
    }
  }

  /** The next bytes of the open run or the run after it; undefined when no sequential run follows. */
  #next(): Uint8Array | undefined {
    for (;;) {
      const run = this.#runs[this.#index];
      if (run === undefined || isSeekable(run)) return undefined;
      this.#reader ??= run.open();
      const bytes = this.#reader();
      this.#given += bytes?.length ?? 0;
      if (bytes === undefined ? this.#given !== run.bytes : this.#given > run.bytes) {
        throw wrongLength(run.bytes, this.#given);
      }
      if (bytes !== undefined) return bytes;
      this.#index += 1;
      this.#reader = undefined;
      this.#given = 0;
    }
  }
}

function wrongLength(bytes: number, given: number): Error {
  return new Error(`a run of ${bytes} bytes gave ${given}`);
}

function gone(offset: number): Error {
  return new Error(`byte ${offset} is not the next one, and what was sent is gone`);
}
