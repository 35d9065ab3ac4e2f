/**
 * Runs typed jobs on worker threads with Piscina, bounded, with typed refusals. Computing jobs queue here and not in
 * Piscina, because a thread runs its jobs in order: `job-turns.ts` chooses the next one and its thread. So each thread is
 * a Piscina of its own.
 */
import { fileURLToPath } from 'node:url';
import type { TransferListItem } from 'node:worker_threads';
import { Refusal } from '../common/fault.ts';
import { Histogram } from '../common/histogram.ts';
import { type Caller, Shares } from '../common/shares.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import { BodyDigests } from './body-digests.ts';
import { isLongJob } from './job-length.ts';
import { type JobKind, JobTurns, turnNameOf } from './job-turns.ts';
import { type JobName, type Jobs, jobFiles } from './jobs.ts';
import { PoolThread } from './thread.ts';

/** Worker threads load compiled JavaScript; from `dist/src/pool` this is `dist/workers`. */
const WORKERS_FOLDER = new URL('../../workers/', import.meta.url);

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

/** Where a job runs. `leave` must be called once when it has ended. */
interface Place {
  readonly thread: PoolThread;
  leave(): void;
}

/** Jobs that do not take turns with the others, and that their senders continue in turns themselves. */
interface Apart {
  /** Undefined: without a limit. */
  readonly shares: Shares | undefined;
  readonly place: () => Place;
}

export class Pool {
  /** Digests of bodies that arrived whole. */
  readonly bodies = new BodyDigests((input) => this.run('digestBodies', input));
  readonly #threads: readonly PoolThread[];
  /** Hashes whole bodies only: a small upload does not wait for the comparisons and the large uploads of others. */
  readonly #bodiesThread: PoolThread;
  readonly #folder: URL;
  /** Worker files: a URL is parsed in microseconds. */
  readonly #files = new Map<JobName, string>();
  readonly #jobs = new Map<JobName, JobFigures>();
  /** Shares of running and waiting jobs. */
  readonly #shares: Shares;
  readonly #apart: ReadonlyMap<JobName, Apart>;
  readonly #turns: JobTurns;
  readonly #waits = new Histogram();

  constructor(options: PoolOptions) {
    const { threads } = options;
    this.#folder = options.workersFolder ?? WORKERS_FOLDER;
    const shared = { what: 'the worker pool is full', retryAfterSeconds: limits.retryAfterSeconds };
    this.#shares = new Shares({ ...shared, max: limits.poolQueueMax });
    this.#turns = new JobTurns(threads);
    const openThread = () => new PoolThread(this.#file('digestStream'));
    this.#threads = Array.from({ length: threads }, openThread);
    this.#bodiesThread = openThread();
    this.#apart = new Map<JobName, Apart>([
      [
        'digestStream',
        {
          // A stream occupies a place of a thread until its sender ends.
          shares: new Shares({ ...shared, max: threads * (limits.poolJobsPerThread - limits.poolJobsKept) }),
          place: () => this.#placeOfStream(),
        },
      ],
      [
        'digestBodies',
        {
          // Few are under way, and the requests of the bodies have shares of the memory.
          shares: undefined,
          place: () => ({ thread: this.#bodiesThread, leave: () => undefined }),
        },
      ],
    ]);
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
    const running = this.#run(name, input, caller, transfer);
    return await (this.#apart.has(name) ? running : turns.resumed(turnNameOf(caller), running));
  }

  async #run<N extends JobName>(
    name: N,
    input: Jobs[N]['input'],
    caller: Caller,
    transfer: readonly TransferListItem[],
  ): Promise<Jobs[N]['output']> {
    const figures = this.#figuresOf(name);
    const apart = this.#apart.get(name);
    const release = this.#take(figures, apart === undefined ? this.#shares : apart.shares, caller);
    const startedMs = performance.now();
    const job = { caller, isLong: isLongJob(name, input), isOfNewcomer: name === 'hashPassword' };
    const place = await (apart?.place() ?? this.#placeOf(job));
    this.#waits.record(performance.now() - startedMs);
    try {
      const output = await place.thread.run(input, {
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

  /** Resolves with a thread when it is the turn of a job. */
  async #placeOf(job: JobKind): Promise<Place> {
    const at = await new Promise<number>((resolve) => this.#turns.enter(job, resolve));
    const runsMs = performance.now();
    const leave = () => this.#turns.leave(job, at, performance.now() - runsMs);
    return { thread: this.#threads[at] as PoolThread, leave };
  }

  /** The thread with the fewest streams. */
  #placeOfStream(): Place {
    const thread = this.#threads.reduce((best, each) => (each.streams < best.streams ? each : best));
    thread.streams += 1;
    return {
      thread,
      leave() {
        thread.streams -= 1;
      },
    };
  }

  get load(): PoolLoad {
    const running = this.#all.flatMap(({ piscina }) => piscina ?? []);
    return {
      threads: running.reduce((sum, { threads }) => sum + threads.length, 0),
      queued: running.reduce((sum, { queueSize }) => sum + queueSize, this.#turns.waiting),
      waits: this.#waits,
      jobs: this.#jobs,
    };
  }

  /** Stops the threads. Running jobs are lost. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.close()));
  }

  get #all(): readonly PoolThread[] {
    return [...this.#threads, this.#bodiesThread];
  }

  #take(figures: JobFigures, shares: Shares | undefined, caller: Caller): () => void {
    if (shares === undefined) return () => undefined;
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
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    const file = fileURLToPath(new URL(`${jobFiles[name]}.js`, this.#folder));
    this.#files.set(name, file);
    return file;
  }
}
