/** Owns the timer that takes away in the background what has had its time, such as what lies in a bin. */

import type { Log } from '../common/log.ts';
import type { Sweep } from '../common/sweep.ts';
import { limits } from '../limits/service.ts';

export interface Sweeper {
  /** Stops; resolves when a round that runs is over. */
  close(): Promise<void>;
}

/** Runs all sweeps, one after another, now and then every hour. One that fails is logged, and the next round tries again. */
export function startSweeper(sweeps: readonly Sweep[], log: Log): Sweeper {
  let running = Promise.resolve();
  const round = async () => {
    for (const { what, run } of sweeps) {
      try {
        const removed = await run();
        if (removed > 0) log.info({ removed, what }, 'emptied the bin');
      } catch (error) {
        log.warn({ err: error, what }, 'the bin was not emptied; the next round tries again');
      }
    }
  };
  const next = () => {
    running = running.then(round);
  };
  const timer = setInterval(next, limits.binSweepMs);
  timer.unref();
  next();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
