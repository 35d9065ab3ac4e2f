/** Owns rounds of work in the background: one after another, never two at once, and a stop that waits for the one under way. */

export interface RoundsOptions {
  /** Does what is due; resolves with how much that was. It looks at `isStopped` between its steps. */
  readonly round: () => Promise<number>;
  /** Hears why a round failed that was begun in the background. */
  readonly onFailure: (error: unknown) => void;
}

export class Rounds {
  readonly #options: RoundsOptions;
  #work: Promise<number> = Promise.resolve(0);
  #isStopped = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** Whether the round under way should end as soon as it can. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Starts a round in the background. */
  begin(): void {
    this.run().catch(this.#options.onFailure);
  }

  /** A round, after those that run. Resolves and rejects as that round does. */
  run(): Promise<number> {
    const round = () => this.#options.round();
    this.#work = this.#work.then(round, round);
    return this.#work;
  }

  /** Stops; resolves when nothing is under way any more. The next start goes on. */
  async close(): Promise<void> {
    this.#isStopped = true;
    await this.#work.catch(() => undefined);
  }
}
