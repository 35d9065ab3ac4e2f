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
export async function takeDelays(hub: { readonly process: ChildProcess }, file: string): Promise<Delays> {
  const before = read(file)?.reports ?? 0;
  hub.process.kill('SIGUSR2');
  for (let tries = 0; tries < 500; tries += 1) {
    const delays = read(file);
    if (delays !== undefined && delays.reports > before) return delays;
    await sleep(10);
  }
  throw new Error('the probe in the hub did not answer');
}

function read(file: string): Delays | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Delays;
  } catch {
    // Not written yet.
    return undefined;
  }
}
