/** Owns the worker threads: Piscina behind typed jobs, bounded, each refusal typed. */
import { fileURLToPath } from 'node:url';
import type { TransferListItem } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Refusal } from '../common/fault.ts';
import { Histogram } from '../common/histogram.ts';
import { limits } from '../limits/service.ts';
import { type JobName, type Jobs, jobFiles } from './jobs.ts';

/** Worker threads load compiled JavaScript; from `dist/src/pool` this is `dist/workers`. */
const WORKERS_FOLDER = new URL('../../workers/', import.meta.url);

export interface PoolOptions {
  readonly threads: number;
  /** Where the worker files lie; only a test that makes a worker crash names another. */
  readonly workersFolder?: URL;
}

/** How busy the pool is. */
export interface PoolLoad {
  readonly threads: number;
  readonly queued: number;
  /** How long jobs waited for a thread since the start, in milliseconds. */
  readonly waitMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly jobs: ReadonlyMap<JobName, JobFigures>;
}

/** What became of the jobs of one name since the start. */
export interface JobFigures {
  done: number;
  failed: number;
  refused: number;
  /** From the call to the result, waiting included. */
  readonly durations: Histogram;
}

export class Pool {
  readonly #piscina: Piscina;
  readonly #folder: URL;
  readonly #jobs = new Map<JobName, JobFigures>();

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
      resourceLimits: { maxOldGenerationSizeMb: limits.workerHeapMebibytes },
      // A thread that sleeps on an atomic between tasks would not hear its message ports.
      atomics: 'disabled',
      // Per job, never per chunk: it costs nothing that could be measured, and says how long jobs waited for a thread.
      recordTiming: true,
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
    const figures = this.#figuresOf(name);
    if (this.#piscina.queueSize >= limits.poolQueueMax) {
      figures.refused += 1;
      throw new Refusal({
        kind: 'overloaded',
        what: 'the worker pool is full',
        retryAfterSeconds: limits.retryAfterSeconds,
      });
    }
    const startedMs = performance.now();
    try {
      const output = await this.#piscina.run(input, {
        filename: this.#file(name),
        name,
        transferList: [...transfer],
      });
      figures.done += 1;
      return output as Jobs[N]['output'];
    } catch (error) {
      figures.failed += 1;
      throw error;
    } finally {
      figures.durations.record(performance.now() - startedMs);
    }
  }

  get load(): PoolLoad {
    const { waitTime } = this.#piscina.histogram;
    return {
      threads: this.#piscina.threads.length,
      queued: this.#piscina.queueSize,
      waitMs: { p50: waitTime.p50, p99: waitTime.p99, max: waitTime.max },
      jobs: this.#jobs,
    };
  }

  /** Ends the threads; jobs that still run are lost. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }

  #figuresOf(name: JobName): JobFigures {
    let figures = this.#jobs.get(name);
    if (figures === undefined) {
      figures = { done: 0, failed: 0, refused: 0, durations: new Histogram() };
      this.#jobs.set(name, figures);
    }
    return figures;
  }

  #file(name: JobName): string {
    return fileURLToPath(new URL(`${jobFiles[name]}.js`, this.#folder));
  }
}
