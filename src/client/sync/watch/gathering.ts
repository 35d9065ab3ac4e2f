/** Hands on what a system reports after a moment, each report once: a file that a sync writes is known as such by then. */

/** Takes a change of an entry of a folder; without a name, it may be any. */
export type HearReport = (folder: string, event: string, name: string | undefined) => void;

export class Gathering {
  readonly #ms: number;
  readonly #hand: HearReport;
  readonly #reports = new Map<string, Parameters<HearReport>>();
  #timer: NodeJS.Timeout | undefined;

  /** `ms`: from the first report until it is handed on, with those that came meanwhile. */
  constructor(ms: number, hand: HearReport) {
    this.#ms = ms;
    this.#hand = hand;
  }

  readonly add: HearReport = (folder, event, name) => {
    this.#reports.set(`${event}/${folder}/${name ?? ''}`, [folder, event, name]);
    this.#timer ??= setTimeout(() => this.#handOn(), this.#ms);
  };

  /** Drops what was not handed on. */
  end(): void {
    clearTimeout(this.#timer);
    this.#reports.clear();
  }

  #handOn(): void {
    this.#timer = undefined;
    const reports = [...this.#reports.values()];
    this.#reports.clear();
    for (const report of reports) this.#hand(...report);
  }
}
