/**
 * Leaves half of the calls that a hub takes to others: without this, the chunks of one large file would use up the rate of an
 * account, and the saves of small files, and its other programs, would be refused for as long as that takes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../limits/service.ts';
import type { ClientAnswer } from './http.ts';

/** What an answer says of the rate. */
export interface RateLeft {
  /** Calls at once after a quiet time. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until all of them are there again. */
  readonly resetSeconds: number;
}

/** Milliseconds that each of several senders pauses before its next call: below half of the calls, as many come as go. */
export function senderPauseMs({ limit, remaining, resetSeconds }: RateLeft, atOnce: number): number {
  const used = limit - remaining;
  if (!(used > limit / 2)) return 0;
  return Math.min((atOnce * 1000 * resetSeconds) / used, limits.clientRetryMsMax);
}

export class SpareCalls {
  /** Between two calls, of whichever sender. */
  #pauseMs = 0;
  /** The first moment that no call has taken (monotonic, milliseconds). */
  #freeMs = 0;

  /** Notes what the last answer said; an answer without a rate has none. */
  note(answer: Pick<ClientAnswer, 'header'>): void {
    const [limit, remaining, resetSeconds] = ['limit', 'remaining', 'reset'].map((name) =>
      Number(answer.header(`x-ratelimit-${name}`)),
    );
    const rate = { limit: limit ?? 0, remaining: remaining ?? 0, resetSeconds: resetSeconds ?? 0 };
    this.#pauseMs = senderPauseMs(rate, 1);
  }

  /** Resolves when a call may be made. Rejects when aborted. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#pauseMs === 0) return;
    const nowMs = performance.now();
    const takenMs = Math.max(nowMs, this.#freeMs);
    this.#freeMs = takenMs + this.#pauseMs;
    await sleep(takenMs - nowMs, undefined, signal === undefined ? {} : { signal });
  }
}
