/** Owns the worker threads: Piscina behind typed jobs, bounded, each refusal typed. */
import { fileURLToPath } from 'node:url';
import type { TransferListItem } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Refusal } from '../fault.ts';
import { limits } from '../limits.ts';
import { type JobName, type Jobs, jobFiles } from './jobs.ts';

/** Worker threads load compiled JavaScript; from `dist/src/pool` this is `dist/workers`. */
const WORKERS_FOLDER = new URL('../../workers/', import.meta.url);

export interface PoolOptions {
  readonly threads: number;
  /** Where the worker files lie; only a test that makes a worker crash names another. */
  readonly workersFolder?: URL;
}

export class Pool {
  readonly #piscina: Piscina;
  readonly #folder: URL;

  constructor(options: PoolOptions) {
    this.#folder = options.workersFolder ?? WORKERS_FOLDER;
    this.#piscina = new Piscina({
      filename: this.#file('digestWhole'),
      minThreads: options.threads,
      maxThreads: options.threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      // A digest stream waits for its next chunk most of its life, so one thread serves many of them.
      concurrentTasksPerWorker: limits.poolJobsPerThread,
      maxQueue: limits.poolQueueMax,
      // A thread that sleeps on an atomic between tasks would not hear its message ports.
      atomics: 'disabled',
      recordTiming: false,
    });
    // The run that a dying thread took with it is rejected by itself; this is only the pool's own echo of it.
    this.#piscina.on('error', () => undefined);
  }

  /**
   * Runs one job. Rejects with `overloaded` when the queue is full, with the thread's error when the thread died.
   * Buffers in `transfer` belong to the job from now on.
   */
  async run<N extends JobName>(
    name: N,
    input: Jobs[N]['input'],
    transfer: readonly TransferListItem[] = [],
  ): Promise<Jobs[N]['output']> {
    if (this.#piscina.queueSize >= limits.poolQueueMax) {
      throw new Refusal({
        kind: 'overloaded',
        what: 'the worker pool is full',
        retryAfterSeconds: limits.retryAfterSeconds,
      });
    }
    return (await this.#piscina.run(input, {
      filename: this.#file(name),
      name,
      transferList: [...transfer],
    })) as Jobs[N]['output'];
  }

  /** Ends the threads; jobs that still run are lost. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }

  #file(name: JobName): string {
    return fileURLToPath(new URL(`${jobFiles[name]}.js`, this.#folder));
  }
}
