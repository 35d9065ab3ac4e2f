/** Tells a client how far its call is (MCP, basic/utilities/progress). */
import { limits } from '../../limits/service.ts';

/** Notes that `done` of `total` steps are done. A call of few steps is not worth a note. */
export type Progress = (done: number, total: number, what: string) => void;

/** The token of a call whose client wants to hear of its progress; undefined: it does not. */
export function progressTokenOf(params: unknown): string | number | undefined {
  const { _meta: meta } = (params ?? {}) as { readonly _meta?: { readonly progressToken?: unknown } | null };
  const token = meta?.progressToken;
  return typeof token === 'string' || (typeof token === 'number' && Number.isInteger(token)) ? token : undefined;
}

/**
 * Sends the notes of one call: of the steps that it counts, and while it counts none that it still runs. The value rises
 * with each note, as the protocol asks, and a note without a step stays below the next one.
 */
export class ProgressNotes {
  readonly #token: string | number;
  readonly #send: (message: string) => void;
  readonly #beats: NodeJS.Timeout;
  #done = 0;
  #total: number | undefined;
  #what = 'still working';
  #beatsSince = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** The last value; a beginning is told too. */
  #told = -1;

  constructor(token: string | number, send: (message: string) => void) {
    this.#token = token;
    this.#send = send;
    this.#beats = setInterval(() => this.#beat(), limits.progressBeatMs);
    this.#beats.unref();
  }

  readonly note: Progress = (done, total, what) => {
    if (total < limits.progressStepsMin || done <= this.#told) return;
    const nowMs = performance.now();
    if (nowMs - this.#sentMs < limits.progressPauseMs && done < total) return;
    this.#sentMs = nowMs;
    [this.#done, this.#total, this.#what, this.#beatsSince] = [done, total, what, 0];
    this.#tell(done);
  };

  end(): void {
    clearInterval(this.#beats);
  }

  /** A part of the step that runs: it rises with each beat, and never reaches the next step. */
  #beat(): void {
    this.#beatsSince += 1;
    this.#tell(this.#done + this.#beatsSince / (this.#beatsSince + 1));
  }

  #tell(progress: number): void {
    this.#told = progress;
    const total = this.#total === undefined ? {} : { total: this.#total };
    const params = { progressToken: this.#token, progress, ...total, message: this.#what };
    this.#send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
  }
}
