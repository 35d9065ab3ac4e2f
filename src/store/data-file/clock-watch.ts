/**
 * Owns whether the clock can be believed. It is held against the newest time that an earlier look wrote down and against the
 * monotonic clock since then; more than a day beyond both, it has jumped, and what removes things by their age waits. A
 * clock that stays where it jumped to for a day is believed: a hub that was off for long is soon its old self.
 */
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import { meta } from '../meta.ts';
import { HUB } from '../owners.ts';
import type { Store } from '../store.ts';

const ROW = 'newest_ms';

export interface ClockWatchOptions {
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  /** Milliseconds that pass whatever the clock is set to. */
  readonly elapsed: () => number;
}

export class ClockWatch {
  readonly #options: ClockWatchOptions;
  /** The newest time that is believed, and where `elapsed` stood then. */
  #believed: { readonly ms: number; readonly at: number };
  /** Where `elapsed` stood when the clock was first seen ahead. */
  #aheadSince: number | undefined;
  #writtenMs: number;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    const { store, now, elapsed } = options;
    this.#writtenMs = newestKnownMs(store);
    this.#believed = { ms: this.#writtenMs === 0 ? now() : this.#writtenMs, at: elapsed() };
  }

  /** Whether things may be removed by their age now. Tells the log when that changes. */
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
        'the clock is more than a day beyond the newest commit; nothing is removed by its age until it is right, or has stayed so for a day',
      );
    }
    if (isAhead && at - (this.#aheadSince ?? at) < limits.clockJumpMs) return false;
    if (this.#aheadSince !== undefined) log.warn('the clock is trusted again');
    this.#aheadSince = undefined;
    // A clock that is behind removes nothing too early, and what was believed stays.
    this.#believed = { ms: isAhead ? nowMs : Math.max(nowMs, this.#believed.ms), at };
    return true;
  }

  /** Writes the newest believed time down for the next start, now and then. */
  async note(): Promise<void> {
    if (!this.isRight() || this.#believed.ms - this.#writtenMs < limits.clockNotedMs) return;
    const { ms } = this.#believed;
    await this.#options.store.write(HUB, (batch) => batch.put(meta, [ROW], { value: String(ms) }));
    this.#writtenMs = ms;
  }
}

/** The newest time that was written down, in milliseconds; 0: none. */
export function newestKnownMs(store: Store): number {
  return Number(store.get(meta, [ROW])?.value ?? 0);
}
