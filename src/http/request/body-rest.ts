/**
 * The rest of a body, discarded before its answer is sent, when the client asked to close the connection. The library
 * closes it with the last byte of the answer, and the system resets a connection that is closed with unread bytes: the
 * client, still sending, would never read the answer. The wait is bounded in bytes and in time, and ends when the client
 * pauses, because it may be waiting for the answer.
 */
import { limits } from '../../limits/service.ts';
import type { RequestHead } from './head.ts';

/** True when an early answer to this request could be lost. Whoever waits to be told to go on has sent no body yet. */
export function mayLoseAnswer(head: RequestHead): boolean {
  return head.asksToClose && head.hasBody && head.header('expect') === undefined;
}

export class BodyRest {
  readonly #bytesDeclared: number | undefined;
  #bytes = 0;
  #isWhole = false;
  #wait: { readonly sinceMs: number; readonly sinceBytes: number; readonly over: () => void } | undefined;
  #arrivedMs = 0;

  constructor(bytesDeclared: number | undefined) {
    this.#bytesDeclared = bytesDeclared;
  }

  /** True when the answer should wait: bytes are missing, and not more than are discarded. */
  get isMissing(): boolean {
    const missing = this.#bytesDeclared === undefined ? 0 : this.#bytesDeclared - this.#bytes;
    return !this.#isWhole && missing <= limits.discardedBodyBytesMax;
  }

  get isAwaited(): boolean {
    return this.#wait !== undefined;
  }

  /** Calls `over` once: when the body is whole, or one of the bounds is reached. */
  await(over: () => void, nowMs: number): void {
    this.#arrivedMs = nowMs;
    this.#wait = { sinceMs: nowMs, sinceBytes: this.#bytes, over };
  }

  receive(bytes: number, isLast: boolean, nowMs: number): void {
    this.#bytes += bytes;
    this.#isWhole ||= isLast;
    if (this.#wait === undefined) return;
    this.#arrivedMs = nowMs;
    if (isLast || this.#bytes - this.#wait.sinceBytes > limits.discardedBodyBytesMax) this.#end();
  }

  checkDeadline(nowMs: number): void {
    if (this.#wait === undefined) return;
    const isLate = nowMs >= this.#wait.sinceMs + limits.discardSeconds * 1000;
    if (isLate || nowMs >= this.#arrivedMs + limits.discardPauseSeconds * 1000) this.#end();
  }

  #end(): void {
    const over = this.#wait?.over;
    this.#wait = undefined;
    // Whatever ended the wait, the answer must not wait again.
    this.#isWhole = true;
    over?.();
  }
}
