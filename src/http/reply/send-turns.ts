/**
 * Owns how streamed bodies share the main thread: each stream sends what its source has at hand, one after another in a
 * circle, and after so many bytes, or so long, everybody else gets a turn of the event loop. So a request is held up for the
 * time of one such share, however many streams run.
 */
import { limits } from '../../limits/service.ts';

/** One stream. Sends once; returns how many bytes the socket took, and whether it would take more at once. */
export type SendStep = () => { readonly bytes: number; readonly more: boolean };

export class SendTurns {
  readonly #waiting: SendStep[] = [];
  #scheduled = false;

  /** The stream sends in one of the next turns, and again while its socket takes more. */
  add(step: SendStep): void {
    this.#waiting.push(step);
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
    for (let step = this.#waiting.shift(); step !== undefined; step = this.#waiting.shift()) {
      const { bytes, more } = step();
      if (more) this.#waiting.push(step);
      left -= Math.max(bytes, limits.sendStepBytesMin);
      if (left <= 0 || performance.now() >= endMs) break;
    }
    if (this.#waiting.length > 0) this.#schedule();
  }
}
