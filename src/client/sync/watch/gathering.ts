/** Hands on what a system reports after a moment, each report once: a file that a sync writes is known as such by then. */

/** Takes a change of an entry of a folder; without a name, it may be any. */
export type HearReport = (folder: string, event: string, name: string | undefined) => void;

export class Gathering {
  readonly #ms: number;
  readonly #hand: HearReport;
  readonly #isThere: () => boolean;
  readonly #reports = new Map<string, Parameters<HearReport>>();
  #timer: NodeJS.Timeout | undefined;

  /** `ms`: from the first report until it is handed on, with those that came meanwhile. `isThere`: false while nothing can be looked at. */
  constructor(ms: number, hand: HearReport, isThere: () => boolean) {
    this.#ms = ms;
    this.#hand = hand;
    this.#isThere = isThere;
  }

  readonly add: HearReport = (folder, event, name) => {
    this.#reports.set(`${event}/${folder}/${name ?? ''}`, [folder, event, name]);
    this.#await();
  };

  /** Drops what was not handed on. */
  end(): void {
    clearTimeout(this.#timer);
    this.#reports.clear();
  }

  #await(): void {
    this.#timer ??= setTimeout(() => this.#handOn(), this.#ms);
  }

  #handOn(): void {
    this.#timer = undefined;
    if (!this.#isThere()) {
      this.#await();
      return;
    }
    const reports = [...this.#reports.values()];
    this.#reports.clear();
    for (const report of reports) this.#hand(...report);
  }
}
