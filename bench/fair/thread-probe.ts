/**
 * Preloaded into the hub: what does its main thread do? Every millisecond it reads the times that Linux keeps for this
 * thread (proc(5), /proc/PID/schedstat): on a core, and ready but without one. So a late answer is told apart: the
 * thread was busy with something else, or the machine had no core for it. On SIGUSR2 it writes what it counted since the
 * last signal. With BENCH_PROFILE_FILE it also writes a profile of that time.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env['BENCH_THREAD_FILE'];
const profileFile = process.env['BENCH_PROFILE_FILE'];
const EVERY_MS = 1;

/** Milliseconds that the main thread ran, and waited for a core, since the process began. */
function threadTimes(): readonly [runMs: number, waitMs: number] {
  const [runNs = 0, waitNs = 0] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1')
    .split(' ')
    .map(Number);
  return [runNs / 1e6, waitNs / 1e6];
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;

function profiler(path: string): () => void {
  const session = new Session();
  session.connect();
  const start = () => session.post('Profiler.start');
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 500 });
  start();
  let reports = 0;
  return () => {
    session.post('Profiler.stop', (_, { profile }) => {
      reports += 1;
      writeFileSync(`${path}.${reports}.cpuprofile`, JSON.stringify(profile));
    });
    start();
  };
}

if (isMainThread && file !== undefined) {
  const writeProfile = profileFile === undefined ? undefined : profiler(profileFile);
  const delays = monitorEventLoopDelay({ resolution: EVERY_MS });
  delays.enable();
  let [runMs, waitMs] = threadTimes();
  let since = { atMs: performance.now(), runMs, waitMs };
  let runs: number[] = [];
  let waits: number[] = [];
  let reports = 0;
  setInterval(() => {
    const [nowRunMs, nowWaitMs] = threadTimes();
    runs.push(nowRunMs - runMs);
    waits.push(nowWaitMs - waitMs);
    [runMs, waitMs] = [nowRunMs, nowWaitMs];
  }, EVERY_MS).unref();
  process.on('SIGUSR2', () => {
    reports += 1;
    const now = { atMs: performance.now(), runMs, waitMs };
    const ms = now.atMs - since.atMs;
    runs.sort((a, b) => a - b);
    waits.sort((a, b) => a - b);
    const report = {
      reports,
      runs: (now.runMs - since.runMs) / ms,
      waits: (now.waitMs - since.waitMs) / ms,
      run: { p99: at(runs, 0.99), max: at(runs, 0.9999) },
      wait: { p99: at(waits, 0.99), max: at(waits, 0.9999) },
      delay: { p99: delays.percentile(99) / 1e6, max: delays.max / 1e6 },
    };
    writeFileSync(`${file}.new`, JSON.stringify(report));
    renameSync(`${file}.new`, file);
    writeProfile?.();
    since = now;
    runs = [];
    waits = [];
    delays.reset();
  });
}
