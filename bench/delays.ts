/** Asks the probe that is preloaded into a hub (`delay-probe.ts`) how long its event loop was blocked. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../test/support/temporary-folder.ts';

/** Delays of the event loop in milliseconds. */
export interface Delays {
  readonly reports: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Returns the environment that preloads the probe, and the file it writes to. */
export function delayProbe(): { readonly file: string; readonly env: Record<string, string> } {
  const file = join(temporaryFolder(), 'delays');
  const probe = new URL('./delay-probe.js', import.meta.url).href;
  return { file, env: { NODE_OPTIONS: `--import=${probe}`, BENCH_DELAY_FILE: file } };
}

/** Returns the delays measured since the last call. */
export const takeDelays = (hub: Probed, file: string): Promise<Delays> => takeReport<Delays>(hub, file);

interface Probed {
  readonly process: ChildProcess;
}

/** Returns what a probe in a hub counted since the last call. */
export async function takeReport<T extends { readonly reports: number }>(hub: Probed, file: string): Promise<T> {
  const before = read<T>(file)?.reports ?? 0;
  hub.process.kill('SIGUSR2');
  for (let tries = 0; tries < 500; tries += 1) {
    const report = read<T>(file);
    if (report !== undefined && report.reports > before) return report;
    await sleep(10);
  }
  throw new Error('the probe in the hub did not answer');
}

function read<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    // Not written yet.
    return undefined;
  }
}
