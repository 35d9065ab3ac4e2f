/** Starts readers that take an answer slowly, or stop reading it, in a process of their own. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ReadersJob {
  readonly port: number;
  /** Sent by each of them once. */
  readonly request: string;
  readonly connections: number;
  /** What each takes in; 0: the first bytes, and then nothing. */
  readonly bytesPerSecond: number;
}

export interface ReadersReport {
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Bytes taken in by all of them. */
  readonly bytes: number;
  /** Connections that the other side has ended, as far as their readers have seen. */
  readonly ended: number;
}

export interface Readers {
  report(): Promise<ReadersReport>;
  /** Reads what is left of each, until the other side ends it; at the most so many bytes each. */
  drain(bytesMax: number): Promise<ReadersReport>;
  /** Ends all of them. */
  stop(): Promise<void>;
}

export type ReadersOrder = { readonly kind: 'report' } | { readonly kind: 'drain'; readonly bytesMax: number };

/** Resolves when each reader has the first bytes of an answer of 200. */
export async function startReaders(job: ReadersJob): Promise<Readers> {
  const child = fork(fileURLToPath(new URL('./readers-process.js', import.meta.url)));
  const ask = (order: ReadersOrder) => answerOf(child, order);
  const stop = () =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.disconnect();
    });
  const { statuses } = await answerOf(child, job);
  if (statuses['200'] !== job.connections) {
    await stop();
    throw new Error(`${job.connections} answers of 200 were expected, got ${JSON.stringify(statuses)}`);
  }
  return { report: () => ask({ kind: 'report' }), drain: (bytesMax) => ask({ kind: 'drain', bytesMax }), stop };
}

function answerOf(child: ChildProcess, message: ReadersJob | ReadersOrder): Promise<ReadersReport> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the readers' process ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (report: ReadersReport) => {
      child.off('exit', ended);
      resolve(report);
    });
    child.send(message);
  });
}
