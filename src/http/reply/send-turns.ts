/**
 * Schedules streamed bodies on the main thread: each stream sends the bytes available from its source, and after a
 * limit of bytes or time the event loop runs other work. Callers take turns, and so do the streams of one caller. So a
 * request waits for at most one such turn, and a download for one step of each other caller, whatever the number of
 * streams.
 */
import { FairQueue } from '../../common/fair/fair-queue.ts';
import { StrangersAsOne } from '../../common/fair/strangers.ts';
import { limits } from '../../limits/service.ts';

/** One stream. Sends once; returns how many bytes the socket accepted, and whether it accepts more immediately. */
export type SendStep = () => { readonly bytes: number; readonly more: boolean };

export class SendTurns {
  readonly #waiting = new StrangersAsOne<SendStep>(new FairQueue(), new FairQueue());
  #scheduled = false;
  /** End of the time in which new streams of this round may send immediately; undefined when none began in it. */
  #beginEndMs: number | undefined;

  /**
   * True when a new stream may send immediately. The new streams of one round share a turn: there may be a thousand.
   */
  get mayBegin(): boolean {
    const nowMs = performance.now();
    if (this.#beginEndMs !== undefined) return nowMs < this.#beginEndMs;
    this.#beginEndMs = nowMs + limits.sendTurnMsMax;
    setImmediate(() => {
      this.#beginEndMs = undefined;
    });
    return true;
  }

  /** Schedules the stream of a caller, repeatedly while its socket accepts more. */
  add(caller: string, step: SendStep): void {
    this.#waiting.push(caller, step);
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
    // The system takes ten times as long for bytes that no reader fetches, because it has to allocate memory for them.
    const endMs = performance.now() + limits.sendTurnMsMax;
    // A step that sends nothing counts too, so that a turn ends.
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) {
      const { caller, item: step } = next;
      const { bytes, more } = step();
      if (more) this.#waiting.push(caller, step);
      left -= Math.max(bytes, limits.sendStepBytesMin);
      if (left <= 0 || performance.now() >= endMs) break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
