/** Removes expired data in the background on a timer, for example from the trash. */

import type { Log } from '../common/log.ts';
import type { Sweep } from '../common/sweep.ts';
import { limits } from '../limits/service.ts';
import type { ClockWatch } from '../store/meta/clock-watch.ts';

export interface Sweeper {
  /** Stops. Resolves after a running round ends. */
  close(): Promise<void>;
}

/**
 * Runs all sweeps in sequence, at the start and every hour. Sweeps by age are skipped while the clock is wrong. A failed
 * sweep is logged, and the next round retries it.
 */
export function startSweeper(sweeps: readonly Sweep[], clock: Pick<ClockWatch, 'isRight' | 'note'>, log: Log): Sweeper {
  let running = Promise.resolve();
  const round = async () => {
    await clock.note().catch((error: unknown) => log.warn({ err: error }, 'the current time could not be stored'));
    for (const { what, byAge, run } of sweeps) {
      if (byAge && !clock.isRight()) continue;
      try {
        const removed = await run();
        if (removed > 0) log.info({ removed, what }, 'emptied the trash');
      } catch (error) {
        log.warn({ err: error, what }, 'the trash was not emptied; the next round tries again');
      }
    }
  };
  const next = () => {
    running = running.then(round);
  };
  const timer = setInterval(next, limits.binSweepMs);
  timer.unref();
  const noting = setInterval(() => void clock.note().catch(() => undefined), limits.clockNotedMs);
  noting.unref();
  next();
  return {
    async close() {
      clearInterval(timer);
      clearInterval(noting);
      await running;
    },
  };
}
