/** Loaded into a hub before it starts: SIGUSR2 makes its main thread throw an error that belongs to no request. */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGUSR2', () => {
    throw new Error('thrown by a test');
  });
}
