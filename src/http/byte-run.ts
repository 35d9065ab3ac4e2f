/** Owns bodies that are put together while they are sent: text and runs of bytes, whose length is known before. */
import { limits } from '../limits.ts';
import type { ByteSource } from './reply.ts';

/** Gives the next bytes, which are the caller's until the next call; undefined: the end. */
type ByteReader = () => Uint8Array | undefined;

/** Bytes that are made on demand. Nothing is held for a run that nobody reads to its end, so there is nothing to close. */
export interface ByteRun {
  /** Exactly how many there are. */
  readonly bytes: number;
  /** Reads them from the beginning. */
  readonly open: () => ByteReader;
}

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const SPACE = 0x20;
const NOTHING = new Uint8Array(0);

/** A run of bytes that are at hand. */
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
 * Lines of JSON as the items of an array, without parsing them: JSON has no newline inside a value, so each one ends a
 * line and becomes a comma, and the last a space. The reader may cut the lines anywhere.
 */
export function itemsOf(lines: ByteRun): ByteRun {
  return {
    bytes: lines.bytes,
    open() {
      const read = lines.open();
      let offset = 0;
      return () => {
        const given = read();
        if (given === undefined) return undefined;
        const bytes = Uint8Array.from(given);
        for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
          bytes[at] = offset + at === lines.bytes - 1 ? SPACE : COMMA;
        }
        offset += bytes.length;
        return bytes;
      };
    },
  };
}

/** Runs one behind another as the body of a reply. Holds one chunk and what the open run last gave, no more. */
export function sourceOf(runs: readonly ByteRun[]): ByteSource {
  return new RunSource(runs);
}

class RunSource implements ByteSource {
  readonly bytesTotal: number;
  readonly #runs: readonly ByteRun[];
  readonly #chunk: Uint8Array;
  /** Where the chunk stands in the whole, and how much of it is filled. */
  #start = 0;
  #filled = 0;
  #index = 0;
  #reader: ByteReader | undefined;
  /** Bytes that the open run gave so far, and those of them that are not in a chunk yet. */
  #given = 0;
  #rest: Uint8Array = NOTHING;

  constructor(runs: readonly ByteRun[]) {
    this.#runs = runs;
    this.bytesTotal = runs.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#chunk = Buffer.allocUnsafe(Math.min(this.bytesTotal, limits.replyChunkBytes));
  }

  /** Throws when a run gives more or fewer bytes than it said, or when what was sent before is asked for again. */
  read(offset: number): Uint8Array {
    while (offset >= this.#start + this.#filled) {
      this.#start += this.#filled;
      this.#filled = 0;
      this.#fill();
      if (this.#filled === 0) return NOTHING;
    }
    if (offset < this.#start) throw new Error(`byte ${offset} was sent and is gone`);
    return this.#chunk.subarray(offset - this.#start, this.#filled);
  }

  #fill(): void {
    while (this.#filled < this.#chunk.length) {
      if (this.#rest.length === 0) {
        const next = this.#next();
        if (next === undefined) return;
        this.#rest = next;
      }
      const taken = this.#rest.subarray(0, this.#chunk.length - this.#filled);
      this.#chunk.set(taken, this.#filled);
      this.#filled += taken.length;
      this.#rest = this.#rest.subarray(taken.length);
    }
  }

  /** The next bytes of the run that is open, or of the one behind it. */
  #next(): Uint8Array | undefined {
    for (;;) {
      const run = this.#runs[this.#index];
      if (run === undefined) return undefined;
      this.#reader ??= run.open();
      const bytes = this.#reader();
      this.#given += bytes?.length ?? 0;
      if (bytes === undefined ? this.#given !== run.bytes : this.#given > run.bytes) {
        throw new Error(`a run of ${run.bytes} bytes gave ${this.#given}`);
      }
      if (bytes !== undefined) return bytes;
      this.#index += 1;
      this.#reader = undefined;
      this.#given = 0;
    }
  }
}
