/**
 * Owns how finished log lines reach a descriptor: gathered, written when there are enough or after a moment, and dropped and
 * counted when the other side does not take them. It never waits for a reader while the service runs, and at the end only
 * for a bounded time.
 */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';

/** How much is gathered before a write, how long a line waits at most, and how much may wait for a slow reader. */
const BATCH_BYTES = 4096;
const FLUSH_MS = 200;
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
/** How long the last flush waits for a reader that is slow, and how often it looks. */
const LAST_FLUSH_MS = 500;
const LOOK_MS = 5;

export class LogWriter {
  #descriptor: number;
  readonly #timer: NodeJS.Timeout;
  #waiting: Buffer[] = [];
  #bytes = 0;
  /** Nobody reads any more. */
  #isClosed = false;
  #dropped = 0;

  constructor(descriptor: number) {
    this.#descriptor = withoutWaiting(descriptor);
    this.#timer = setInterval(() => this.#write(), FLUSH_MS);
    this.#timer.unref();
  }

  /** Appends to a file, which only its owner and group can read. Throws as `open` does. */
  static toFile(path: string): LogWriter {
    return new LogWriter(openSync(path, 'a', FILE_MODE));
  }

  /** Writes what is gathered, then goes on in the file that has this path now. Throws as `open` does, and then nothing has changed. */
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

  /** Takes one line. Never throws, never waits. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#isClosed || this.#bytes + bytes.length > WAITING_BYTES_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= BATCH_BYTES) this.#write();
  }

  /** Writes what is left before the process ends, or drops it after a bounded time. */
  end(): void {
    clearInterval(this.#timer);
    const clock = new Int32Array(new SharedArrayBuffer(4));
    const deadlineMs = performance.now() + LAST_FLUSH_MS;
    this.#write();
    while (this.#bytes > 0 && performance.now() < deadlineMs) {
      Atomics.wait(clock, 0, 0, LOOK_MS);
      this.#write();
    }
    this.#drop();
  }

  /** Writes until nothing is left or the other side takes no more. */
  #write(): void {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const bytes = this.#waiting.length === 1 ? (this.#waiting[0] as Buffer) : Buffer.concat(this.#waiting);
      try {
        const written = writeSync(this.#descriptor, bytes);
        this.#waiting = written < bytes.length ? [bytes.subarray(written)] : [];
        this.#bytes -= written;
      } catch (error) {
        this.#waiting = [bytes];
        // The timer tries again.
        if (MAY_PASS.has((error as NodeJS.ErrnoException).code)) return;
        this.#isClosed = true;
        this.#drop();
      }
    }
  }

  #drop(): void {
    for (const bytes of this.#waiting) for (const byte of bytes) if (byte === NEWLINE) this.#dropped += 1;
    this.#waiting = [];
    this.#bytes = 0;
  }
}

const NEWLINE = 0x0a;
const FILE_MODE = 0o640;
/** A full pipe, and a full disk below a file. */
const MAY_PASS: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'ENOSPC', 'EDQUOT']);

/** The same pipe, opened so that a write to a full one fails at once; anything else never waits for a reader. */
function withoutWaiting(descriptor: number): number {
  try {
    if (!fstatSync(descriptor).isFIFO()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Not Linux, or a pipe of another user: then a reader that stalls holds the log up.
    return descriptor;
  }
}
