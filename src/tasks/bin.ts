/** Owns the timer that empties the bin in the background. */
import { limits } from '../limits.ts';
import type { Log } from '../log.ts';
import type { Tasks } from './service.ts';

export interface BinSweeper {
  /** Stops; resolves when a round that runs is over. */
  close(): Promise<void>;
}

/** Empties the bin now and then every hour. A round that fails is logged, and the next one tries again. */
export function startBinSweeper(tasks: Pick<Tasks, 'emptyBin' | 'now'>, log: Log): BinSweeper {
  let running = Promise.resolve();
  const sweep = async () => {
    try {
      const removed = await tasks.emptyBin(tasks.now());
      if (removed > 0) log.info({ tasks: removed }, 'emptied the bin');
    } catch (error) {
      log.warn({ err: error }, 'the bin was not emptied; the next round tries again');
    }
  };
  const next = () => {
    running = running.then(sweep);
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
