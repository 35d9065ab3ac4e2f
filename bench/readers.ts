/** Starts readers in a separate process that read a response slowly, or stop reading it. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ReadersJob {
  readonly port: number;
  /** Sent once by each reader. */
  readonly request: string;
  readonly connections: number;
  /** Bytes read per second by each reader; 0: the first bytes only. */
  readonly bytesPerSecond: number;
}

export interface ReadersReport {
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Bytes received by all readers. */
  readonly bytes: number;
  /** Connections seen to be closed by the server. */
  readonly ended: number;
}

export interface Readers {
  report(): Promise<ReadersReport>;
  /** Reads the rest of each response until the server closes it; at most `bytesMax` bytes each. */
  drain(bytesMax: number): Promise<ReadersReport>;
  /** Closes all connections. */
  stop(): Promise<void>;
}

export type ReadersOrder = { readonly kind: 'report' } | { readonly kind: 'drain'; readonly bytesMax: number };

/** Resolves when each reader has received the first bytes of a 200 response. */
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
