/**
 * Reads fast bodies in turns. The HTTP library reads a socket for as long as bytes arrive: a sender on the same machine
 * brings tens of MiB in one round of the event loop. So a socket that brings a large chunk is paused, and in each round
 * one paused socket is read on; callers take turns.
 */
import { FairQueue } from '../../common/fair-queue.ts';
import { limits } from '../../limits/service.ts';

/** The part of the library's response that reads. `resume` is missing where another thread reads the socket. */
interface ReadSocket {
  pause(): void;
  resume?(): void;
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void;
}

/** One body being read. */
export interface Reading {
  /** Ends the turns, and lets the library discard the rest. Must be called before the answer. */
  leave(): void;
  /** Ends the turns of a socket that was closed. */
  forget(): void;
}

type Receive = (bytes: Uint8Array, isLast: boolean) => void;

export class ReadTurns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #nextRound: (run: () => void) => void;
  #isScheduled = false;

  constructor(nextRound: (run: () => void) => void = (run) => void setImmediate(run)) {
    this.#nextRound = nextRound;
  }

  /** Passes the body of a socket to `receive`. The bytes are valid only during the call. */
  read(socket: ReadSocket, caller: string, receive: Receive): Reading {
    let isPaused = false;
    let isWhole = false;
    let isOver = false;
    const resume = () => {
      if (isPaused && !isOver) socket.resume?.();
      isPaused = false;
    };
    socket.onData((chunk, isLast) => {
      isWhole = isLast;
      receive(new Uint8Array(chunk), isLast);
      if (isLast || isOver || isPaused || socket.resume === undefined || chunk.byteLength < limits.readStepBytes)
        return;
      isPaused = true;
      socket.pause();
      // The library still reads what is there. Once the body is whole, the socket stays paused until the answer: to
      // resume starts a timeout of ten seconds, and the handler may take longer.
      this.#waiting.push(caller, () => {
        if (!isWhole) resume();
      });
      this.#schedule();
    });
    return {
      leave: () => {
        resume();
        isOver = true;
      },
      forget: () => {
        isOver = true;
      },
    };
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextRound(() => {
      this.#isScheduled = false;
      this.#waiting.shift()?.();
      if (this.#waiting.size > 0) this.#schedule();
    });
  }
}

/** The turns of this thread, which has one event loop. */
export const readTurns = new ReadTurns();
