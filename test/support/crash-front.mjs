/** Loaded into a hub by --import: lets a test end a front, by a file named for it, as a broken assumption would. */
import { existsSync, rmSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';

const folder = process.env.TEST_CRASH_FOLDER;
if (!isMainThread && folder !== undefined && typeof workerData?.own === 'number') {
  const order = `${folder}/crash-${workerData.own}`;
  setInterval(() => {
    if (!existsSync(order)) return;
    rmSync(order);
    throw new Error('the test broke an assumption of this front');
  }, 10).unref();
}
