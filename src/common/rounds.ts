/** Runs background work in rounds: one at a time, never two at once. Stopping waits for the running round. */

export interface RoundsOptions {
  /** Does the pending work and resolves with its amount. Must check `isStopped` between its steps. */
  readonly round: () => Promise<number>;
  /** Called with the error of a failed background round. */
  readonly onFailure: (error: unknown) => void;
}

export class Rounds {
  readonly #options: RoundsOptions;
  #work: Promise<number> = Promise.resolve(0);
  #isStopped = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** True when the running round should end as soon as possible. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Starts a round in the background. */
  begin(): void {
    this.run().catch(this.#options.onFailure);
  }

  /** Runs a round after the running ones. Resolves and rejects as that round does. */
  run(): Promise<number> {
    const round = () => this.#options.round();
    this.#work = this.#work.then(round, round);
    return this.#work;
  }

  /** Stops. Resolves when no round is running. Unfinished work continues at the next start. */
  async close(): Promise<void> {
    this.#isStopped = true;
    await this.#work.catch(() => undefined);
  }
}
