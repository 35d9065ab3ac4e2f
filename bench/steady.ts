/** Starts the client that asks at a fixed rate, whatever the answers take (an open loop), as a process of its own. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface SteadyRequest {
  /** Requests of a name are summed up together. */
  readonly name: string;
  readonly text: string;
}

export interface SteadyJob {
  readonly port: number;
  /** Sent in this order, each when its time has come. */
  readonly requests: readonly SteadyRequest[];
  readonly perSecond: number;
}

/** Milliseconds from the moment at which each request was to be sent to its whole answer, by name, rising. */
export type SteadyTimes = Readonly<Record<string, readonly number[]>>;

/** Rejects when an answer was not 200. */
export function runSteady(job: SteadyJob): Promise<SteadyTimes> {
  const child = fork(fileURLToPath(new URL('./steady-process.js', import.meta.url)));
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the steady client ended with ${code}`)));
    child.once('message', (result: SteadyTimes | { readonly failed: string }) => {
      if ('failed' in result) reject(new Error(`the steady client met ${String(result['failed'])}`));
      else resolve(result as SteadyTimes);
      child.disconnect();
    });
    child.send(job);
  });
}

/** The value below which this share of rising times lies. */
export function percentile(rising: readonly number[], share: number): number {
  return rising[Math.min(rising.length - 1, Math.floor(rising.length * share))] ?? Number.NaN;
}
