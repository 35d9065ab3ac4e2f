/** Limits the duration of a request: of the whole request, or of a period without a byte in either direction. */
export class Deadline {
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly #isIdle: boolean;
  readonly #timer: NodeJS.Timeout;

  /** `isIdle`: any progress restarts the timer. */
  constructor(seconds: number, isIdle: boolean) {
    const ending = new AbortController();
    this.seconds = seconds;
    this.signal = ending.signal;
    this.#isIdle = isIdle;
    this.#timer = setTimeout(() => ending.abort(), seconds * 1000);
  }

  progress(): void {
    if (this.#isIdle) this.#timer.refresh();
  }

  /** Stops the timer after the request. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
