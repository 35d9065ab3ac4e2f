/** The thread that keeps saves. Started by `start-keeper.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { collectEarly } from './collect-early.ts';
import { keepSaves } from './keep.ts';
import type { FromKeeper, KeepData, ToKeeper } from './keeper-messages.ts';

collectEarly();
const keeps = keepSaves(workerData as KeepData, (message: FromKeeper) => parentPort?.postMessage(message));

parentPort?.on('message', (message: ToKeeper) => {
  keeps.hear(message);
  if (message.type === 'close') parentPort?.close();
});
