/** Starts the raw-socket client in a separate process, so that its cost is the same for both sides. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Credential } from '../test/support/mirror.ts';

export interface ClientJob {
  readonly port: number;
  readonly connections: number;
  readonly requestsPerConnection: number;
  readonly bodyBytes: number;
  /** POST to Cairn, with each request signed by this credential. */
  readonly credential?: Credential;
  /** Otherwise PUT to nginx, with an fsync of each stored file in this folder before the upload counts as done. */
  readonly storeFolder?: string;
  /** With it, `openssl` also computes SHA-256 and HMAC of the stored file, at the same time, before the upload is done. */
  readonly isDigested?: boolean;
}

export interface ClientResult {
  /** From the first byte sent until the last upload is durable. */
  readonly ms: number;
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Duration of each upload. */
  readonly requestMs: readonly number[];
}

export interface PreparedClient {
  /** Sends the prepared requests, once; the client's process then ends. */
  run(): Promise<ClientResult>;
}

/** Resolves when every request is built and signed, ready to send. */
export async function prepareClient(job: ClientJob): Promise<PreparedClient> {
  const program = fileURLToPath(new URL('./client-process.js', import.meta.url));
  // Each fsync blocks one thread of the pool.
  const child = fork(program, { env: { ...process.env, UV_THREADPOOL_SIZE: String(Math.max(4, job.connections)) } });
  child.send(job);
  await answerOf(child);
  return {
    async run() {
      child.send('go');
      const result = (await answerOf(child)) as ClientResult;
      child.disconnect();
      return result;
    },
  };
}

/** Prepares, runs, and checks that every response was the expected one. `before` runs in between. */
export async function runClient(job: ClientJob, before: () => void = () => undefined): Promise<ClientResult> {
  const client = await prepareClient(job);
  before();
  const result = await client.run();
  checkStatuses(job, result);
  return result;
}

export function checkStatuses(job: ClientJob, { statuses }: ClientResult): void {
  const expected = job.credential === undefined ? '201' : '200';
  const wanted = job.connections * job.requestsPerConnection;
  if (statuses[expected] !== wanted) {
    throw new Error(`${wanted} answers of ${expected} were expected, got ${JSON.stringify(statuses)}`);
  }
}

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the client ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}
