/** Starts the raw-socket client as a process of its own, so that what the client costs is the same for both sides. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Credential } from '../test/support/mirror.ts';

export interface ClientJob {
  readonly port: number;
  readonly connections: number;
  readonly requestsPerConnection: number;
  readonly bodyBytes: number;
  /** POST to Cairn, each request signed with this. */
  readonly credential?: Credential;
  /** Else PUT to nginx, each stored file fsynced in this folder before the upload counts as done. */
  readonly storeFolder?: string;
}

export interface ClientResult {
  /** From the first byte sent to the last upload durable. */
  readonly ms: number;
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Time of each upload. */
  readonly requestMs: readonly number[];
}

export interface PreparedClient {
  /** Sends what was prepared, once; the client's process ends with it. */
  run(): Promise<ClientResult>;
}

/** Resolves when every request is built and signed and only the sending is left. */
export async function prepareClient(job: ClientJob): Promise<PreparedClient> {
  const program = fileURLToPath(new URL('./client-process.js', import.meta.url));
  // Each fsync waits in a thread of its own.
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

/** Prepares, runs, and checks that every answer was the expected one. `before` runs between the two. */
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
