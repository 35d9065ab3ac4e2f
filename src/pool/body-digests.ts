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
import type { DigestBodiesInput, DigestedBodies, Digests } from './jobs.ts';

/** Runs a job, and transfers the buffers of the bodies to it. */
type RunJob = (input: DigestBodiesInput, transfer: readonly ArrayBuffer[]) => Promise<DigestedBodies>;

interface Body {
  /** The body is at its start. It belongs to the digests until they are there. */
  readonly buffer: ArrayBuffer;
  readonly length: number;
  readonly hmacKey: Uint8Array;
}

export interface Digested extends Digests {
  /** The same memory; the buffer that was passed may be detached. */
  readonly buffer: ArrayBuffer;
}

interface Waiting {
  readonly body: Body;
  readonly resolve: (digested: Digested) => void;
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
   * Rejects with the thread's error when it died; the buffer is lost then.
   */
  async of(body: Body, caller: Caller): Promise<Digested> {
    const { buffer, length, hmacKey } = body;
    if (length <= limits.hashedHereBytesMax)
      return { buffer, ...digestsOf(new Uint8Array(buffer, 0, length), hmacKey) };
    const name = turnNameOf(caller);
    const digested = await new Promise<Digested>((resolve, reject) => {
      this.#waiting.push(name, { body, resolve, reject });
      this.#schedule();
    });
    const turn = turns.enter(name);
    if (turn !== undefined) await turn;
    return digested;
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
      const bodies = batch.map(({ body }) => body);
      const { buffers, digests } = await this.#run(
        { bodies },
        bodies.map(({ buffer }) => buffer),
      );
      batch.forEach(({ resolve }, index) => {
        resolve({ buffer: buffers[index] as ArrayBuffer, ...(digests[index] as Digests) });
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#jobs -= 1;
      if (this.#waiting.size > 0) this.#schedule();
    }
  }
}
