/**
 * Decides which readers are too slow. Pure. A reader may be slow because of a bad line or a full disk, but a stalled
 * answer occupies a connection and a place among the streams, and must end.
 */
import { limits } from '../../limits/service.ts';

export class SendPace {
  readonly #stallMs: number;
  readonly #startedMs: number;
  #bytes = 0;
  #movedMs: number;

  constructor(stallSeconds: number, nowMs: number) {
    this.#stallMs = stallSeconds * 1000;
    this.#startedMs = nowMs;
    this.#movedMs = nowMs;
  }

  /** Records how many bytes the system has accepted so far. Returns true when the reader is too slow. */
  isTooSlow(nowMs: number, bytes: number): boolean {
    if (bytes > this.#bytes) {
      this.#bytes = bytes;
      this.#movedMs = nowMs;
    }
    if (nowMs - this.#movedMs > this.#stallMs) return true;
    const countedSeconds = (nowMs - this.#startedMs - this.#stallMs) / 1000;
    return bytes < countedSeconds * limits.sendBytesPerSecondMin;
  }
}
