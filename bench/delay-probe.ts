/** Preloaded into the hub: on SIGUSR2 its main thread writes its event-loop delay since the last signal to a file. */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env['BENCH_DELAY_FILE'];

if (isMainThread && file !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  let reports = 0;
  process.on('SIGUSR2', () => {
    reports += 1;
    const ms = (percentile: number) => delays.percentile(percentile) / 1e6;
    const report = { reports, p50: ms(50), p90: ms(90), p99: ms(99), max: delays.max / 1e6 };
    writeFileSync(`${file}.new`, JSON.stringify(report));
    renameSync(`${file}.new`, file);
    delays.reset();
  });
}
