/** Counts durations in buckets. Recording is a short walk over an array, cheap enough for every request. */

/** Upper bounds in milliseconds. One more bucket counts everything above the last bound. */
const BOUNDS_MS: readonly number[] = [
  0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000,
];

export class Histogram {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1);
  #sumMs = 0;

  record(ms: number): void {
    let at = 0;
    while (at < BOUNDS_MS.length && ms > (BOUNDS_MS[at] as number)) at += 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sumMs += ms;
  }

  get sumMs(): number {
    return this.#sumMs;
  }

  /** Number of durations up to each bound, smallest first. The last bound is infinite and includes all of them. */
  cumulative(): { readonly boundMs: number; readonly count: number }[] {
    let count = 0;
    return [...BOUNDS_MS, Number.POSITIVE_INFINITY].map((boundMs, at) => {
      count += this.#counts[at] as number;
      return { boundMs, count };
    });
  }
}
