/** Owns how long a request may take: as a whole, or without a byte in either direction. */
export class Deadline {
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly #isIdle: boolean;
  readonly #timer: NodeJS.Timeout;

  /** `isIdle`: each progress begins it anew. */
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

  /** The request is over. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
