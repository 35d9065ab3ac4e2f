/** Starts the thread that keeps saves. */
import { Worker } from 'node:worker_threads';
import type { StartThread } from './keeper.ts';
import type { ToKeeper } from './keeper-messages.ts';

/** Mebibytes of the thread's heap: contents are outside of it, and each watched folder takes some 700 bytes. */
const HEAP = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 2 };

export const startKeeper: StartThread = (workerData, { message, failed }) => {
  const worker = new Worker(new URL('./keeper-thread.js', import.meta.url), {
    workerData,
    name: 'saves',
    resourceLimits: HEAP,
  });
  worker.unref();
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.on('message', message);
  worker.on('error', failed);
  return {
    send: (one) => worker.postMessage(one),
    async close() {
      worker.ref();
      worker.postMessage({ type: 'close' } satisfies ToKeeper);
      await ended;
    },
  };
};
