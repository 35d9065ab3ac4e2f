/** One thread of the pool, which is a Piscina. It starts, and the library is loaded, with its first job: a hub at rest has none. */
import type { Piscina } from 'piscina';
import { limits } from '../limits/service.ts';
import { threadNiceIncrement } from './thread-priority.ts';

/**
 * Node.js 20 aborts the process when a thread is ended while its `require` links an ES module, so a stop soon after the start
 * could. With this flag Piscina, which tries `require` first, loads the files by `import`.
 */
const NO_REQUIRE_FLAG = '--no-experimental-require-module';
const NO_REQUIRE_OF_MODULES = process.allowedNodeEnvironmentFlags.has(NO_REQUIRE_FLAG) ? [NO_REQUIRE_FLAG] : [];

type RunOptions = NonNullable<Parameters<Piscina['run']>[1]>;

export class PoolThread {
  /** Digest streams that occupy places of this thread. */
  streams = 0;
  readonly #file: string;
  #piscina: Piscina | undefined;
  /** Why the thread of a Piscina could not start, or died without a job. */
  readonly #failures = new WeakMap<Piscina, unknown>();
  #isClosed = false;

  /** @param file the file of a job, for jobs that name none */
  constructor(file: string) {
    this.#file = file;
  }

  /** Undefined before the first job. */
  get piscina(): Piscina | undefined {
    return this.#piscina;
  }

  /** Runs a job. Rejects with the error of the job, or of a thread that died or could not start. */
  async run(input: unknown, options: RunOptions): Promise<unknown> {
    const piscina = this.#piscina ?? (await this.#open());
    try {
      return await piscina.run(input, options);
    } catch (error) {
      throw this.#failures.get(piscina) ?? error;
    }
  }

  async #open(): Promise<Piscina> {
    const library = await import('piscina');
    if (this.#isClosed) throw new Error('the pool is closed');
    // A job that came at the same time may have opened it.
    this.#piscina ??= this.#make(library.Piscina);
    return this.#piscina;
  }

  #make(Library: typeof Piscina): Piscina {
    const piscina = new Library({
      filename: this.#file,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // A digest stream mostly waits for its next chunk, so one thread serves many of them.
      concurrentTasksPerWorker: limits.poolJobsPerThread,
      // The main thread gets priority where threads compete for a core (Linux).
      niceIncrement: threadNiceIncrement(),
      resourceLimits: { maxOldGenerationSizeMb: limits.workerHeapMebibytes },
      execArgv: NO_REQUIRE_OF_MODULES,
      // Nothing reads its own figures.
      recordTiming: false,
      // A thread sleeping on an atomic between tasks would not receive messages on its ports.
      atomics: 'disabled',
    });
    // A thread that dies rejects its jobs itself. Of one that could not start, the library keeps them and starts no other.
    piscina.on('error', (error) => {
      this.#failures.set(piscina, error);
      if (this.#piscina === piscina) this.#piscina = undefined;
      void piscina.destroy();
    });
    return piscina;
  }

  /** Stops the thread. Its jobs are lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#piscina?.destroy();
  }
}
