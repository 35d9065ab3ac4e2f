/** Bounds how many jobs run at once. Callers whose jobs wait take turns. */
import { FairQueue } from './fair-queue.ts';

export class FairPlaces {
  readonly #max: number;
  #taken = 0;
  readonly #waiting = new FairQueue<() => void>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs a job of a caller once there is a place for it, and settles as the job does. */
  async run<T>(caller: string, job: () => Promise<T>): Promise<T> {
    if (this.#taken >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(caller, resolve));
    else this.#taken += 1;
    try {
      return await job();
    } finally {
      // The next job takes this place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }
}
