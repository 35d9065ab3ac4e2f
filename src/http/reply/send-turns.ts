/**
 * Owns how streamed bodies share the main thread: each stream sends what its source has at hand, and after so many bytes, or
 * so long, everybody else gets a turn of the event loop. Callers take turns, and the streams of one caller among themselves.
 * So a request is held up for the time of one such share, and a download by no more than one step of each other caller,
 * however many streams run.
 */
import { FairQueue } from '../../common/fair-queue.ts';
import { limits } from '../../limits/service.ts';

/** One stream. Sends once; returns how many bytes the socket took, and whether it would take more at once. */
export type SendStep = () => { readonly bytes: number; readonly more: boolean };

interface Waiting {
  readonly caller: string;
  readonly step: SendStep;
}

export class SendTurns {
  readonly #waiting = new FairQueue<Waiting>();
  #scheduled = false;
  /** Until when streams that begin in this round may send at once; undefined: none has begun in it. */
  #beginEndMs: number | undefined;

  /** Whether a stream that begins now may send at once. Those that begin in one round share a turn: there may be a thousand. */
  get mayBegin(): boolean {
    const nowMs = performance.now();
    if (this.#beginEndMs !== undefined) return nowMs < this.#beginEndMs;
    this.#beginEndMs = nowMs + limits.sendTurnMsMax;
    setImmediate(() => {
      this.#beginEndMs = undefined;
    });
    return true;
  }

  /** The stream of a caller sends in one of the next turns, and again while its socket takes more. */
  add(caller: string, step: SendStep): void {
    this.#waiting.push(caller, { caller, step });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#scheduled = false;
    let left: number = limits.sendTurnBytesMax;
    // The system takes ten times as long for bytes that no reader fetches: it has to find memory for them.
    const endMs = performance.now() + limits.sendTurnMsMax;
    // A step that sends nothing counts too, so that a turn ends.
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const { bytes, more } = next.step();
      if (more) this.#waiting.push(next.caller, next);
      left -= Math.max(bytes, limits.sendStepBytesMin);
      if (left <= 0 || performance.now() >= endMs) break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
