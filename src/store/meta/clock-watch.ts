/**
 * Decides whether the system clock is trusted. Compares it with the newest time recorded earlier plus the monotonic
 * time since then. A clock more than a day ahead has jumped: removal by age pauses. A jumped clock is trusted after a
 * day, so a hub that was switched off for long soon removes by age again.
 */
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import { isFromTheFuture } from '../../time/truth.ts';
import { intact } from '../intact.ts';
import { HUB } from '../owners.ts';
import type { Store } from '../store.ts';
import { meta } from './meta.ts';

const ROW = 'newest_ms';
/** The newest time seen while the clock was ahead: records may have it. */
const AHEAD_ROW = 'clock_ahead_ms';

export interface ClockWatchOptions {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  /** Monotonic time in milliseconds. */
  readonly elapsed: () => number;
}

export class ClockWatch {
  readonly #options: ClockWatchOptions;
  /** The newest trusted time, and the value of `elapsed` at that time. */
  #believed: { readonly ms: number; readonly at: number };
  /** The value of `elapsed` when the clock was first seen ahead. */
  #aheadSince: number | undefined;
  #writtenMs: number;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    const { store, log, now, elapsed } = options;
    this.#writtenMs = timeOf(store, ROW);
    this.#believed = { ms: this.#writtenMs === 0 ? now() : this.#writtenMs, at: elapsed() };
    const newestMs = newestKnownMs(store);
    if (isFromTheFuture(newestMs, now())) {
      log.warn(
        { newest: new Date(newestMs).toISOString() },
        'data is newer than the clock: correct the clock, or, if it was wrong before, run `cairn doctor --fix-clock`',
      );
    }
  }

  /** True when removal by age is allowed now. Logs each change. */
  isRight(): boolean {
    const { log, now, elapsed } = this.#options;
    const [nowMs, at] = [now(), elapsed()];
    const expectedMs = this.#believed.ms + (at - this.#believed.at);
    const isAhead = nowMs > expectedMs + limits.clockJumpMs;
    if (isAhead && this.#aheadSince === undefined) {
      this.#aheadSince = at;
      const newest = new Date(expectedMs).toISOString();
      log.error(
        { newest },
        'the clock is more than a day ahead of the newest commit; nothing is removed by age until it is corrected, or a day has passed',
      );
    }
    if (isAhead && at - (this.#aheadSince ?? at) < limits.clockJumpMs) return false;
    if (this.#aheadSince !== undefined) log.warn('the clock is trusted again');
    this.#aheadSince = undefined;
    // A slow clock removes nothing too early, so the trusted time does not go back.
    this.#believed = { ms: isAhead ? nowMs : Math.max(nowMs, this.#believed.ms), at };
    return true;
  }

  /** Trusts the clock from now on: what it dated before was mended. */
  async trustNow(): Promise<void> {
    const { store, now, elapsed } = this.#options;
    const ms = now();
    await store.write(HUB, (batch) => {
      batch.put(meta, [ROW], { value: String(ms) });
      batch.remove(meta, [AHEAD_ROW]);
    });
    this.#believed = { ms, at: elapsed() };
    this.#aheadSince = undefined;
    this.#writtenMs = ms;
  }

  /** Stores the newest trusted time for the next start, at most once per `limits.clockNotedMs`. */
  async note(): Promise<void> {
    if (!this.isRight()) {
      const aheadMs = Math.max(this.#options.now(), timeOf(this.#options.store, AHEAD_ROW));
      await this.#options.store.write(HUB, (batch) => batch.put(meta, [AHEAD_ROW], { value: String(aheadMs) }));
      return;
    }
    if (this.#believed.ms - this.#writtenMs < limits.clockNotedMs) return;
    const { ms } = this.#believed;
    await this.#options.store.write(HUB, (batch) => batch.put(meta, [ROW], { value: String(ms) }));
    this.#writtenMs = ms;
  }
}

/** The newest time in milliseconds that a record may have; 0 when none is known. */
export function newestKnownMs(store: Store): number {
  return Math.max(timeOf(store, ROW), timeOf(store, AHEAD_ROW));
}

function timeOf(store: Store, row: string): number {
  return Number(intact(store, meta, [row])?.value ?? 0);
}
