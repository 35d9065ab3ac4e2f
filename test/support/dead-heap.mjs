/**
 * Preloaded into a hub: how much of its heap is dead, and yet outlives collections of young objects? At SIGUSR2 it makes
 * such a collection, then a full one, and writes how many bytes the second one freed.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const file = process.env.DEAD_HEAP_FILE;

if (isMainThread && file !== undefined) {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  const used = () => getHeapStatistics().used_heap_size;
  let reports = 0;
  process.on('SIGUSR2', () => {
    // What survives the first one is moved by the second.
    for (let times = 0; times < 2; times += 1) gc({ type: 'minor' });
    const before = used();
    gc();
    reports += 1;
    writeFileSync(`${file}.new`, JSON.stringify({ reports, bytes: before - used() }));
    renameSync(`${file}.new`, file);
  });
}
