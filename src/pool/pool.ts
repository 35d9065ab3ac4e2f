/**
 * Runs typed jobs on worker threads with Piscina, bounded, with typed refusals. Computing jobs queue here and not in
 * Piscina, because a thread runs its jobs in order: here callers divide the time, and three kinds of callers take turns: those
 * with an account, newcomers who sign up, and other strangers, who sign in.
 */
import { fileURLToPath } from 'node:url';
import type { TransferListItem } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { FairCallers } from '../common/fair/fair-callers.ts';
import { Refusal } from '../common/fault.ts';
import { Histogram } from '../common/histogram.ts';
import { widestNetwork } from '../common/networks.ts';
import { type Caller, Shares } from '../common/shares.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import { type JobName, type Jobs, jobFiles } from './jobs.ts';

/** Worker threads load compiled JavaScript; from `dist/src/pool` this is `dist/workers`. */
const WORKERS_FOLDER = new URL('../../workers/', import.meta.url);

/**
 * Node.js 20 aborts the process when a thread is ended while its `require` links an ES module, so a stop soon after the start
 * could. With this flag Piscina, which tries `require` first, loads the files by `import`.
 */
const NO_REQUIRE_FLAG = '--no-experimental-require-module';
const NO_REQUIRE_OF_MODULES = process.allowedNodeEnvironmentFlags.has(NO_REQUIRE_FLAG) ? [NO_REQUIRE_FLAG] : [];

export interface PoolOptions {
  readonly threads: number;
  /** Folder of the worker files. Set only by a test that makes a worker crash. */
  readonly workersFolder?: URL;
}

export interface PoolLoad {
  readonly threads: number;
  readonly queued: number;
  /** Time that jobs waited for a thread. */
  readonly waits: Histogram;
  readonly jobs: ReadonlyMap<JobName, JobFigures>;
}

/** Results of all jobs with one name since the start. */
export interface JobFigures {
  done: number;
  failed: number;
  refused: number;
  /** Time from the call to the result, waiting included. */
  readonly durations: Histogram;
}

export class Pool {
  readonly #piscina: Piscina;
  readonly #folder: URL;
  readonly #jobs = new Map<JobName, JobFigures>();
  /**
   * Shares of running and waiting jobs, and of digest streams, which occupy a place of a thread until their sender
   * ends.
   */
  readonly #shares: Shares;
  readonly #streams: Shares;
  readonly #turns: JobTurns;
  readonly #waits = new Histogram();

  constructor(options: PoolOptions) {
    const { threads } = options;
    this.#folder = options.workersFolder ?? WORKERS_FOLDER;
    const shared = { what: 'the worker pool is full', retryAfterSeconds: limits.retryAfterSeconds };
    this.#shares = new Shares({ ...shared, max: limits.poolQueueMax });
    this.#streams = new Shares({ ...shared, max: threads * (limits.poolJobsPerThread - limits.poolJobsKept) });
    // One more than the number of threads, so that no thread idles until its next message arrives.
    this.#turns = new JobTurns(threads + 1);
    this.#piscina = new Piscina({
      filename: this.#file('digestStream'),
      minThreads: threads,
      maxThreads: threads,
      idleTimeout: Number.POSITIVE_INFINITY,
      // A digest stream mostly waits for its next chunk, so one thread serves many of them.
      concurrentTasksPerWorker: limits.poolJobsPerThread,
      // The main thread gets priority where threads compete for a core (Linux).
      niceIncrement: limits.poolNice,
      resourceLimits: { maxOldGenerationSizeMb: limits.workerHeapMebibytes },
      execArgv: NO_REQUIRE_OF_MODULES,
      // A thread sleeping on an atomic between tasks would not receive messages on its ports.
      atomics: 'disabled',
    });
    // The job of a dying thread rejects without this. The event only repeats the error.
    this.#piscina.on('error', () => undefined);
  }

  /**
   * Runs one job for a caller, or for the service when there is no caller. What the caller does with the result is work
   * of the main thread, so its promise resolves in a turn of the caller. Rejects with `overloaded` when the caller's
   * share of the queue is used up, and with the thread's error when the thread died. Buffers in `transfer` are
   * transferred to the job.
   */
  async run<N extends JobName>(
    name: N,
    input: Jobs[N]['input'],
    caller: Caller = {},
    transfer: readonly TransferListItem[] = [],
  ): Promise<Jobs[N]['output']> {
    const output = await this.#run(name, input, caller, transfer);
    const turn = name === 'digestStream' ? undefined : turns.enter(nameOf(caller));
    if (turn !== undefined) await turn;
    return output;
  }

  async #run<N extends JobName>(
    name: N,
    input: Jobs[N]['input'],
    caller: Caller,
    transfer: readonly TransferListItem[],
  ): Promise<Jobs[N]['output']> {
    const figures = this.#figuresOf(name);
    const isStream = name === 'digestStream';
    const release = this.#take(figures, isStream ? this.#streams : this.#shares, caller);
    const startedMs = performance.now();
    if (!isStream) await this.#turns.enter(name, caller);
    const runsMs = performance.now();
    this.#waits.record(runsMs - startedMs);
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
      if (!isStream) this.#turns.leave(name, caller, performance.now() - runsMs);
      release();
      figures.durations.record(performance.now() - startedMs);
    }
  }

  get load(): PoolLoad {
    return {
      threads: this.#piscina.threads.length,
      queued: this.#turns.waiting + this.#piscina.queueSize,
      waits: this.#waits,
      jobs: this.#jobs,
    };
  }

  /** Stops the threads. Running jobs are lost. */
  async close(): Promise<void> {
    await this.#piscina.destroy();
  }

  #take(figures: JobFigures, shares: Shares, caller: Caller): () => void {
    try {
      return shares.take(caller);
    } catch (error) {
      if (error instanceof Refusal) figures.refused += 1;
      throw error;
    }
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

/** Chooses the next waiting job: kinds of callers take turns, and within a kind the callers divide the time. */
class JobTurns {
  readonly #known = new FairCallers<() => void>();
  readonly #newcomers = new FairCallers<() => void>();
  readonly #strangers = new FairCallers<() => void>();
  /** In the order of turns. */
  #kinds = [this.#known, this.#strangers, this.#newcomers];
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  get waiting(): number {
    return this.#kinds.reduce((sum, { size }) => sum + size, 0);
  }

  /** Resolves when the job may run. Then `leave` must be called once. */
  enter(name: JobName, caller: Caller): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#queueOf(name, caller).push(nameOf(caller), resolve));
  }

  /** Ends a job that ran for some time, and starts the next. */
  leave(name: JobName, caller: Caller, ms: number): void {
    if (this.waiting === 0) for (const queue of this.#kinds) queue.forget();
    else this.#queueOf(name, caller).charge(nameOf(caller), ms);
    const served = this.#kinds.find(({ size }) => size > 0);
    if (served === undefined) {
      this.#free += 1;
      return;
    }
    this.#kinds = [...this.#kinds.filter((queue) => queue !== served), served];
    served.shift()?.item();
  }

  #queueOf(name: JobName, { accountId, address }: Caller): FairCallers<() => void> {
    if (accountId !== undefined || address === undefined) return this.#known;
    return name === 'hashPassword' ? this.#newcomers : this.#strangers;
  }
}

/** Callers take turns by account, strangers by their widest network. The service itself is one of the known callers. */
function nameOf({ accountId, address }: Caller): string {
  return accountId ?? (address === undefined ? 'service' : widestNetwork(address));
}
