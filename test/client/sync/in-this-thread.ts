/** Keeps saves in the thread of a test, which runs the sources as they are. */
import { keepSaves } from '../../../src/client/sync/watch/keep.ts';
import type { StartThread } from '../../../src/client/sync/watch/keeper.ts';

export const inThisThread: StartThread = (data, { message }) => {
  const keeps = keepSaves(data, (one) => setImmediate(() => message(one)));
  return {
    send: (one) => void setImmediate(() => keeps.hear(one)),
    close: () => Promise.resolve(keeps.hear({ type: 'close' })),
  };
};
