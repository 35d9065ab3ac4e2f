/** Removes expired data in the background on a timer, for example from the trash. */

import type { Log } from '../common/log.ts';
import type { Sweep } from '../common/sweep.ts';
import { limits } from '../limits/service.ts';
import type { ClockWatch } from '../store/meta/clock-watch.ts';

/**
 * Runs all sweeps in sequence, at the start and every hour. Sweeps by age are skipped while the clock is wrong. A failed
 * sweep is logged, and the next round retries it.
 */
export class Sweeper {
  readonly #sweeps: readonly Sweep[];
  readonly #clock: Pick<ClockWatch, 'isRight' | 'note'>;
  readonly #log: Log;
  readonly #timers: NodeJS.Timeout[] = [];
  #running = Promise.resolve();

  constructor(sweeps: readonly Sweep[], clock: Pick<ClockWatch, 'isRight' | 'note'>, log: Log) {
    this.#sweeps = sweeps;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    const next = () => {
      this.#running = this.#running.then(() => this.#round());
    };
    const note = () => void this.#clock.note().catch(() => undefined);
    this.#timers.push(setInterval(next, limits.binSweepMs), setInterval(note, limits.clockNotedMs));
    for (const timer of this.#timers) timer.unref();
    next();
  }

  /** Stops. Resolves after a running round ends. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#running;
  }

  async #round(): Promise<void> {
    const log = this.#log;
    await this.#clock
      .note()
      .catch((error: unknown) => log.warn({ err: error }, 'the current time could not be stored'));
    for (const { what, byAge, run } of this.#sweeps) {
      if (byAge && !this.#clock.isRight()) continue;
      try {
        const removed = await run();
        if (removed > 0) log.info({ removed, what }, 'emptied the trash');
      } catch (error) {
        log.warn({ err: error, what }, 'the trash was not emptied; the next round tries again');
      }
    }
  }
}
