/** Starts a process that sends requests at a fixed rate, independent of response times (an open loop). */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface SteadyRequest {
  /** Requests with the same name are summarized together. */
  readonly name: string;
  readonly text: string;
}

export interface SteadyJob {
  readonly port: number;
  /** Sent in this order, each at its scheduled time. */
  readonly requests: readonly SteadyRequest[];
  readonly perSecond: number;
}

/** Milliseconds from the scheduled time of each request to its complete response, by name, ascending. */
export type SteadyTimes = Readonly<Record<string, readonly number[]>>;

/** Rejects when a status was not 200. */
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

/** Returns the value at a percentile of ascending times. */
export function percentile(rising: readonly number[], share: number): number {
  return rising[Math.min(rising.length - 1, Math.floor(rising.length * share))] ?? Number.NaN;
}
