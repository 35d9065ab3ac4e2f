/**
 * Writes log lines to a descriptor in batches, when enough are buffered or after a moment. Lines that the reader does
 * not accept are dropped and counted. It never waits for a reader while the service runs, and at the end only for a
 * bounded time.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Characters buffered before a write, the longest time a line waits, and the most that wait for a slow reader. */
const BATCH_CHARS = 16 * 1024;
const FLUSH_MS = 200;
const WAITING_MAX = 4 * 1024 * 1024;
/** How long the last flush waits for a slow reader, and the interval of its retries. */
const LAST_FLUSH_MS = 500;
const LOOK_MS = 5;

export class LogWriter {
  #descriptor: number;
  readonly #timer: NodeJS.Timeout;
  /** Lines since the last write. */
  #text = '';
  /** Bytes that the reader did not accept. */
  #rest: Buffer = NOTHING;
  /** The reader has closed the descriptor. */
  #isClosed = false;
  #dropped = 0;

  constructor(descriptor: number) {
    this.#descriptor = withoutWaiting(descriptor);
    this.#timer = setInterval(() => this.#write(), FLUSH_MS);
    this.#timer.unref();
  }

  /** Appends to a file readable only by its owner and group. Throws as `open` does. */
  static toFile(path: string): LogWriter {
    return new LogWriter(openSync(path, 'a', FILE_MODE));
  }

  /**
   * Writes the buffered lines, then continues in the file now at this path. Throws as `open` does; then nothing has
   * changed.
   */
  reopen(path: string): void {
    const descriptor = openSync(path, 'a', FILE_MODE);
    this.#write();
    closeSync(this.#descriptor);
    this.#descriptor = descriptor;
  }

  /** Lines that could not be written since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Buffers one line. Never throws, never waits. */
  write(line: string): void {
    if (this.#isClosed || this.#rest.length + this.#text.length + line.length > WAITING_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#text += line;
    if (this.#text.length >= BATCH_CHARS) this.#write();
  }

  /** Writes the remaining lines before the process ends, or drops them after a bounded time. */
  end(): void {
    clearInterval(this.#timer);
    const clock = new Int32Array(new SharedArrayBuffer(4));
    const deadlineMs = performance.now() + LAST_FLUSH_MS;
    this.#write();
    while (this.#rest.length > 0 && performance.now() < deadlineMs) {
      Atomics.wait(clock, 0, 0, LOOK_MS);
      this.#write();
    }
    this.#drop();
  }

  /** Writes until the buffer is empty or the reader accepts no more. */
  #write(): void {
    const lines = Buffer.from(this.#text);
    this.#rest = this.#rest.length === 0 ? lines : Buffer.concat([this.#rest, lines]);
    this.#text = '';
    while (this.#rest.length > 0 && !this.#isClosed) {
      try {
        this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest));
      } catch (error) {
        // The timer retries.
        if (MAY_PASS.has((error as NodeJS.ErrnoException).code)) return;
        this.#isClosed = true;
        this.#drop();
      }
    }
  }

  #drop(): void {
    for (const byte of this.#rest) if (byte === NEWLINE) this.#dropped += 1;
    this.#rest = NOTHING;
  }
}

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
const FILE_MODE = 0o640;
/** Temporary errors: a full pipe, or a full disk. */
const MAY_PASS: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'ENOSPC', 'EDQUOT']);

/** Reopens a pipe so that a write to a full one fails immediately. Other descriptors never wait for a reader. */
function withoutWaiting(descriptor: number): number {
  try {
    if (!fstatSync(descriptor).isFIFO()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Not Linux, or a pipe of another user: a stalled reader then blocks the log.
    return descriptor;
  }
}
