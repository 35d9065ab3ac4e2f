/**
 * Computes the digests of bodies that arrived whole, in a thread of the pool. A message to a thread and back takes the main
 * thread about as long as one digest of 64 KiB, so bodies that arrive in the same round of the event loop, or while the
 * thread works, go there together. Callers take turns.
 */
import { FairQueue } from '../common/fair/fair-queue.ts';
import type { Caller } from '../common/shares.ts';
import { turns } from '../common/turns.ts';
import { limits } from '../limits/service.ts';
import { digestsOf } from './digest.ts';
import { turnNameOf } from './job-turns.ts';
import type { DigestBodiesInput, Digests } from './jobs.ts';

/** Runs a job, which gets copies of the bodies. */
type RunJob = (input: DigestBodiesInput) => Promise<readonly Digests[]>;

interface Body {
  /** Not modified before the digests are there. */
  readonly bytes: Uint8Array;
  readonly hmacKey: Uint8Array;
}

interface Waiting {
  readonly body: Body;
  readonly resolve: (digests: Digests) => void;
  readonly reject: (error: unknown) => void;
}

/** A second job waits in the thread, so that it does not idle until its next message arrives. */
const JOBS_AT_ONCE = 2;

export class BodyDigests {
  readonly #run: RunJob;
  readonly #waiting = new FairQueue<Waiting>();
  #jobs = 0;
  #isScheduled = false;

  constructor(run: RunJob) {
    this.#run = run;
  }

  /**
   * Digests one body: a short one here, a longer one in the thread, and then the promise resolves in a turn of the caller.
   * Rejects when the thread died twice.
   */
  async of(body: Body, caller: Caller): Promise<Digests> {
    const { bytes, hmacKey } = body;
    if (bytes.length <= limits.hashedHereBytesMax) return digestsOf(bytes, hmacKey);
    const name = turnNameOf(caller);
    const digests = await new Promise<Digests>((resolve, reject) => {
      this.#waiting.push(name, { body, resolve, reject });
      this.#schedule();
    });
    const turn = turns.enter(name);
    if (turn !== undefined) await turn;
    return digests;
  }

  /** Starts jobs when everything that this round of the event loop received is there. */
  #schedule(): void {
    if (this.#isScheduled || this.#jobs >= JOBS_AT_ONCE) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#jobs < JOBS_AT_ONCE && this.#waiting.size > 0) void this.#start();
    });
  }

  async #start(): Promise<void> {
    const batch: Waiting[] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      batch.push(next);
      if (batch.length === limits.bodiesDigestedAtOnce) break;
    }
    this.#jobs += 1;
    try {
      const input = { bodies: batch.map(({ body }) => body) };
      // The uploads of others do not fail with a thread: the next job starts a new one.
      const digests = await this.#run(input).catch(() => this.#run(input));
      batch.forEach(({ resolve }, index) => {
        resolve(digests[index] as Digests);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#jobs -= 1;
      if (this.#waiting.size > 0) this.#schedule();
    }
  }
}
