/** The thread of the search: reads the data file, keeps the indexes, answers searches. Started by `thread.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { yieldToMainThread } from '../../pool/thread-priority.ts';
import { Indexer } from '../../search/indexer.ts';
import type { FromIndex, ToIndex } from '../../search/messages.ts';
import { Store } from '../../store/store.ts';
import { allTables } from '../tables.ts';
import { thingKinds } from '../things.ts';

export interface SearchThreadData {
  readonly dataFolder: string;
  readonly mapBytes: number;
}

yieldToMainThread();
const { dataFolder: folder, mapBytes } = workerData as SearchThreadData;
const reader = new Store({ folder, tables: allTables, mapBytes, readOnly: true });
const indexer = new Indexer({ reader, kinds: thingKinds, now: Date.now });

parentPort?.on('message', (message: ToIndex | 'close') => {
  if (message === 'close') {
    void reader.close().then(() => parentPort?.close());
  } else if (message.type === 'written') {
    indexer.note(message.things);
  } else if (message.type === 'forget') {
    indexer.forget(message.accountId);
  } else {
    const { id } = message;
    const asked = message.type === 'search' ? indexer.search(message.query) : indexer.containing(message.query);
    const answer = (made: Omit<FromIndex, 'id'>) => parentPort?.postMessage({ id, ...made } satisfies FromIndex);
    asked.then(
      (value) => answer({ answer: { value } }),
      (error: unknown) => answer({ answer: undefined, error }),
    );
  }
});
