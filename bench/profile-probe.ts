/** Preloaded into a hub: samples its main thread, and on SIGUSR2 writes the profile to the file BENCH_PROFILE_FILE. */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

const SAMPLE_US = 400;
const file = process.env['BENCH_PROFILE_FILE'];

if (isMainThread && file !== undefined) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
  session.post('Profiler.start');
  process.once('SIGUSR2', () => {
    session.post('Profiler.stop', (_, { profile }) => {
      writeFileSync(`${file}.new`, JSON.stringify({ reports: 1, ...profile }));
      renameSync(`${file}.new`, file);
    });
  });
}
