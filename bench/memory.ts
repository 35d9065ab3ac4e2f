/** Reads the memory of a process, and its peak during a run. */
import { readFileSync } from 'node:fs';

/** `VmHWM`: the most that was resident at a time. */
const FIELDS = ['VmRSS', 'VmHWM', 'RssAnon', 'RssFile'] as const;
const SAMPLE_MS = 50;

/** Bytes. For several processes: their sum. */
export type Memory = Record<(typeof FIELDS)[number], number>;

export function memoryOf(...pids: readonly number[]): Memory {
  const sum: Memory = { VmRSS: 0, VmHWM: 0, RssAnon: 0, RssFile: 0 };
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    for (const field of FIELDS) {
      sum[field] += Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
    }
  }
  return sum;
}

/** Returns the result of `run`, and the peak memory of the processes together during it, each field separately. */
export async function peakMemory<T>(
  pids: readonly number[],
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly peak: Memory }> {
  const peak = memoryOf(...pids);
  const timer = setInterval(() => {
    const now = memoryOf(...pids);
    for (const field of FIELDS) peak[field] = Math.max(peak[field], now[field]);
  }, SAMPLE_MS);
  const result = await run().finally(() => clearInterval(timer));
  return { result, peak };
}
