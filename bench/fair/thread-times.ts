/** What the main thread of a hub did, told by the probe that is preloaded into it (`thread-probe.ts`). */
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';

/** In milliseconds, of all times between two looks of the probe, a millisecond apart. */
interface Spread {
  readonly p99: number;
  readonly max: number;
}

export interface ThreadTimes {
  readonly reports: number;
  /** Share of the time on a core, and of the time ready but without a core. */
  readonly runs: number;
  readonly waits: number;
  /** How long new work waits at most because the thread runs something else. */
  readonly run: Spread;
  /** The same because the machine has no core for it. */
  readonly wait: Spread;
  /** Both, as the event loop is late. */
  readonly delay: Spread;
}

/** Returns the environment that preloads the probe, and the file it writes to. */
export function threadProbe(): { readonly file: string; readonly env: Record<string, string> } {
  const file = join(temporaryFolder(), 'thread');
  const probe = new URL('./thread-probe.js', import.meta.url).href;
  return { file, env: { NODE_OPTIONS: `--import=${probe}`, BENCH_THREAD_FILE: file } };
}

export function toldTimes({ runs, waits, run, wait, delay }: ThreadTimes): string {
  const spread = ({ p99, max }: Spread) => `p99 ${p99.toFixed(1)} max ${max.toFixed(1)}`;
  const share = (of: number) => `${Math.round(of * 100)} %`;
  return `runs ${share(runs)} (${spread(run)} ms), without a core ${share(waits)} (${spread(wait)} ms), loop late ${spread(delay)} ms`;
}
