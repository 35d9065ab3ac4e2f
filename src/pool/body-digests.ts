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
import { BODY_DIGESTS_BYTES, type DigestBodiesInput, type Digests, SHA256_BYTES } from './jobs.ts';

/** Runs a job, which returns the digests of the bodies, one after another. */
type RunJob = (input: DigestBodiesInput) => Promise<Uint8Array>;

interface Body {
  /** At most `wholeUploadBytesMax`, and not modified before the digests are there. */
  readonly bytes: Uint8Array;
  readonly hmacKey: Uint8Array;
}

interface Waiting {
  readonly body: Body;
  readonly resolve: (digests: Digests) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A second job waits in the thread, so that it does not idle until its next message arrives. It is sent once it has some
 * bodies: one message for each body costs the main thread more than the other thread's wait.
 */
const JOBS_AT_ONCE = 2;
const SECOND_JOB_BODIES = limits.bodiesDigestedAtOnce / 2;
const JOB_BYTES = limits.bodiesDigestedAtOnce * limits.wholeUploadBytesMax;

export class BodyDigests {
  readonly #run: RunJob;
  readonly #waiting = new FairQueue<Waiting>();
  /** Memory for the bodies of a job, of those that ended. */
  readonly #spare: SharedArrayBuffer[] = [];
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
    if (this.#isScheduled || !this.#hasJob) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (this.#hasJob) void this.#start();
    });
  }

  /** True when bodies wait for a job that may be sent now. */
  get #hasJob(): boolean {
    return this.#jobs < JOBS_AT_ONCE && this.#waiting.size >= (this.#jobs === 0 ? 1 : SECOND_JOB_BODIES);
  }

  async #start(): Promise<void> {
    const batch: Waiting[] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      batch.push(next);
      if (batch.length === limits.bodiesDigestedAtOnce) break;
    }
    this.#jobs += 1;
    const memory = this.#spare.pop() ?? new SharedArrayBuffer(JOB_BYTES);
    try {
      const input = together(batch, memory);
      // The uploads of others do not fail with a thread: the next job starts a new one.
      const digests = await this.#run(input).catch(() => this.#run(input));
      batch.forEach(({ resolve }, index) => {
        const at = index * BODY_DIGESTS_BYTES;
        const hmacAt = at + SHA256_BYTES;
        resolve({ sha256: digests.subarray(at, hmacAt), hmac: digests.subarray(hmacAt, at + BODY_DIGESTS_BYTES) });
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#spare.push(memory);
      this.#jobs -= 1;
      this.#schedule();
    }
  }
}

/** Copies bodies into the memory of a job. */
function together(batch: readonly Waiting[], memory: SharedArrayBuffer): DigestBodiesInput {
  const copies = new Uint8Array(memory);
  let filled = 0;
  for (const { body } of batch) {
    copies.set(body.bytes, filled);
    filled += body.bytes.length;
  }
  return {
    memory,
    lengths: batch.map(({ body }) => body.bytes.length),
    hmacKeys: batch.map(({ body }) => body.hmacKey),
  };
}
