/**
 * Measures the delay of the event loop: the median of the last half second, and a histogram of all delays. A single
 * long turn does not move the median; an overloaded loop does.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Histogram } from '../../common/histogram.ts';
import { limits } from '../../limits/service.ts';

export class LoopDelay {
  readonly #delays = monitorEventLoopDelay({ resolution: limits.loopSampleMs });
  readonly #sampler: NodeJS.Timeout;
  /** All samples since the start. */
  readonly durations = new Histogram();
  #medianMs = 0;

  constructor() {
    this.#delays.enable();
    this.#sampler = setInterval(() => this.#sample(), limits.loopWindowMs);
    this.#sampler.unref();
  }

  get medianMs(): number {
    return this.#medianMs;
  }

  close(): void {
    clearInterval(this.#sampler);
    this.#delays.disable();
  }

  #sample(): void {
    // A sample is the interval between two ticks, so a loop without delay still shows the requested interval.
    const at = (percentile: number) => Math.max(0, this.#delays.percentile(percentile) / 1e6 - limits.loopSampleMs);
    this.#medianMs = at(50);
    const { count } = this.#delays;
    for (let sample = 0; sample < count; sample += 1) this.durations.record(at(((sample + 0.5) / count) * 100));
    this.#delays.reset();
  }
}
