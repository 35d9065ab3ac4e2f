/**
 * Runs typed jobs on worker threads with Piscina, bounded, with typed refusals. Computing jobs queue here and not in
 * Piscina, because a thread runs its jobs in order: `job-turns.ts` chooses the next one and its thread. So each thread is
 * a Piscina of its own.
 */
import { fileURLToPath } from 'node:url';
import type { TransferListItem } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Refusal } from '../common/fault.ts';
import { Histogram } from '../common/histogram.ts';
import { type Caller, Shares } from '../common/shares.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import { BodyDigests } from './body-digests.ts';
import { isLongJob } from './job-length.ts';
import { type JobKind, JobTurns, turnNameOf } from './job-turns.ts';
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

/** One thread. */
interface Lane {
  readonly piscina: Piscina;
  streams: number;
}

/** Where a job runs. `leave` must be called once when it has ended. */
interface Place {
  readonly piscina: Piscina;
  leave(): void;
}

export class Pool {
  /** Digests of bodies that arrived whole. */
  readonly bodies = new BodyDigests((input, transfer) => this.run('digestBodies', input, {}, transfer));
  readonly #lanes: readonly Lane[];
  /** Hashes whole bodies only: a small upload does not wait for the comparisons and the large uploads of others. */
  readonly #bodiesThread: Piscina;
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
    this.#turns = new JobTurns(threads);
    this.#lanes = Array.from({ length: threads }, () => ({ piscina: this.#openThread(), streams: 0 }));
    this.#bodiesThread = this.#openThread();
  }

  #openThread(): Piscina {
    const piscina = new Piscina({
      filename: this.#file('digestStream'),
      // A thread starts with its first job: a hub at rest has none.
      minThreads: 0,
      maxThreads: 1,
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
    piscina.on('error', () => undefined);
    return piscina;
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
    const turn = name === 'digestStream' || name === 'digestBodies' ? undefined : turns.enter(turnNameOf(caller));
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
    const release = this.#take(figures, name, caller);
    const startedMs = performance.now();
    const place = await this.#placeFor(name, input, caller);
    this.#waits.record(performance.now() - startedMs);
    try {
      const output = await place.piscina.run(input, {
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
      place.leave();
      release();
      figures.durations.record(performance.now() - startedMs);
    }
  }

  #placeFor<N extends JobName>(name: N, input: Jobs[N]['input'], caller: Caller): Place | Promise<Place> {
    if (name === 'digestStream') return this.#placeOfStream();
    if (name === 'digestBodies') return { piscina: this.#bodiesThread, leave: () => undefined };
    return this.#placeOf({ caller, isLong: isLongJob(name, input), isOfNewcomer: name === 'hashPassword' });
  }

  /** Resolves with a thread when it is the turn of a job. */
  async #placeOf(job: JobKind): Promise<Place> {
    const at = await new Promise<number>((resolve) => this.#turns.enter(job, resolve));
    const runsMs = performance.now();
    const leave = () => this.#turns.leave(job, at, performance.now() - runsMs);
    return { piscina: (this.#lanes[at] as Lane).piscina, leave };
  }

  /** The thread with the fewest streams. */
  #placeOfStream(): Place {
    const lane = this.#lanes.reduce((best, each) => (each.streams < best.streams ? each : best));
    lane.streams += 1;
    return {
      piscina: lane.piscina,
      leave() {
        lane.streams -= 1;
      },
    };
  }

  get load(): PoolLoad {
    const sum = (of: (piscina: Piscina) => number) => this.#threads.reduce((total, each) => total + of(each), 0);
    return {
      threads: sum((piscina) => piscina.threads.length),
      queued: this.#turns.waiting + sum((piscina) => piscina.queueSize),
      waits: this.#waits,
      jobs: this.#jobs,
    };
  }

  /** Stops the threads. Running jobs are lost. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((each) => each.destroy()));
  }

  get #threads(): readonly Piscina[] {
    return [...this.#lanes.map(({ piscina }) => piscina), this.#bodiesThread];
  }

  #take(figures: JobFigures, name: JobName, caller: Caller): () => void {
    // Few are under way, and the requests of the bodies have shares of the memory.
    if (name === 'digestBodies') return () => undefined;
    try {
      return (name === 'digestStream' ? this.#streams : this.#shares).take(caller);
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
