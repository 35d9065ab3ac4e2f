/** What processes have used so far: processor time, bytes written to the disk, and the most memory at a time. */
import { cpuSeconds } from '../cpu-seconds.ts';
import { ioOf } from '../io-bytes.ts';
import { memoryOf } from '../memory.ts';

/** By the name of a process, such as `hub`. */
export type ByName<T> = Readonly<Record<string, T>>;

export interface Spent {
  readonly cpuSeconds: number;
  readonly writtenBytes: number;
}

/** Bytes. */
export interface Peak {
  readonly resident: number;
  /** Of it, what the process made itself: the system cannot take it back, as it can pages of a file. */
  readonly own: number;
}

const SAMPLE_MS = 100;

export const spentBy = (pid: number): Spent => ({ cpuSeconds: cpuSeconds(pid), writtenBytes: ioOf(pid).dirtiedBytes });

/** What each process used since `before`; one that did not run then has used all that it used. */
export function spentSince(before: ByName<Spent>, now: ByName<Spent>): ByName<Spent> {
  return mapped(now, (spent, name) => ({
    cpuSeconds: spent.cpuSeconds - (before[name]?.cpuSeconds ?? 0),
    writtenBytes: spent.writtenBytes - (before[name]?.writtenBytes ?? 0),
  }));
}

export const sumOf = <K extends string>(all: ByName<Readonly<Record<K, number>>>, field: K): number =>
  Object.values(all).reduce((sum, one) => sum + one[field], 0);

export function mapped<T, U>(all: ByName<T>, made: (one: T, name: string) => U): ByName<U> {
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, made(one, name)]));
}

/** Resolves with the result of `run`, and with the most memory of each process that ran until its end. */
export async function peaksDuring<T>(
  processes: () => ByName<number>,
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly peaks: ByName<Peak> }> {
  const peaks: Record<string, Peak> = {};
  const look = () => {
    for (const [name, pid] of Object.entries(processes())) {
      const [resident, own] = peakNow(pid);
      const { [name]: before = { resident: 0, own: 0 } } = peaks;
      peaks[name] = { resident: Math.max(before.resident, resident), own: Math.max(before.own, own) };
    }
  };
  const timer = setInterval(look, SAMPLE_MS);
  const result = await run().finally(() => clearInterval(timer));
  look();
  return { result, peaks };
}

/** The peak of the resident pages as the system keeps it, and the process's own pages now. Zeros once it has ended. */
function peakNow(pid: number): readonly [resident: number, own: number] {
  try {
    const { VmHWM, RssAnon } = memoryOf(pid);
    return [VmHWM, RssAnon];
  } catch {
    return [0, 0];
  }
}
