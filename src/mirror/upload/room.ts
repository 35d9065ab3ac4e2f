/**
 * Bounds the bytes of streamed uploads between socket and disk. While there are too many, senders wait; callers take
 * turns. One sender continues at a time, because a sender on the same machine can bring many MiB at once.
 */
import { FairQueue } from '../../common/fair/fair-queue.ts';
import { limits } from '../../limits/service.ts';

export class UploadRoom {
  readonly #waiting = new FairQueue<() => void>();
  readonly #afterRead: (run: () => void) => void;
  #bytes = 0;
  #isReading = false;

  /** `afterRead`: calls a function when a socket that may read on has done so. */
  constructor(afterRead: (run: () => void) => void = afterPoll) {
    this.#afterRead = afterRead;
  }

  /** Counts bytes on their way to the disk. Their caller must give them back whatever happens to other bytes. */
  take(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Counts bytes out that are on disk or discarded. */
  give(bytes: number): void {
    this.#bytes -= bytes;
    this.#continue();
  }

  /** Returns a promise while there is no room; it resolves when it is the caller's turn to send more. */
  wait(caller: string): Promise<void> | undefined {
    if (this.#bytes < limits.uploadBytesUnderWay) return undefined;
    return new Promise((resolve) => this.#waiting.push(caller, resolve));
  }

  #continue(): void {
    if (this.#isReading || this.#bytes >= limits.uploadBytesUnderWay) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#isReading = true;
    next();
    this.#afterRead(() => {
      this.#isReading = false;
      this.#continue();
    });
  }
}

/** Calls a function after the next time the event loop has read sockets, which is between two rounds of immediates. */
function afterPoll(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
