/** Counts calls per registered tool, for the metrics. */
import { Refusal } from '../common/fault.ts';
import { Histogram, type HistogramCounts } from '../common/histogram.ts';

/** Counts of a tool from one thread, for another to add. */
export interface ToolReport {
  readonly tool: string;
  readonly done: number;
  readonly failed: number;
  readonly refused: readonly (readonly [reason: string, count: number])[];
  readonly durations: HistogramCounts;
}

/** Counts of one tool, over all routes. */
export class ToolCalls {
  readonly tool: string;
  /** Number of calls with a result. */
  done = 0;
  /** Number of calls with an unexpected error. */
  failed = 0;
  /** Number of refused calls, by kind of refusal. */
  readonly refused = new Map<string, number>();
  /** Durations of all calls, from the start of the call to its end. */
  readonly durations = new Histogram();

  constructor(tool: string) {
    this.tool = tool;
  }

  /** True when any call was counted. */
  get isCalled(): boolean {
    return this.done > 0 || this.failed > 0 || this.refused.size > 0;
  }

  /** Counts a finished call. `error`: the thrown error, or undefined. */
  record(ms: number, error: unknown): void {
    this.durations.record(ms);
    if (error === undefined) this.done += 1;
    else if (error instanceof Refusal) {
      const { kind } = error.fault;
      this.refused.set(kind, (this.refused.get(kind) ?? 0) + 1);
    } else this.failed += 1;
  }
}

export class ToolTraffic {
  #tools = new Map<string, ToolCalls>();

  /** The counts of a tool. Call only with registered names, so that the map stays bounded. */
  of(tool: string): ToolCalls {
    let calls = this.#tools.get(tool);
    if (calls === undefined) {
      calls = new ToolCalls(tool);
      this.#tools.set(tool, calls);
    }
    return calls;
  }

  /** Returns the counts since the last call, and resets them. */
  take(): ToolReport[] {
    const called = [...this.#tools.values()].filter(({ isCalled }) => isCalled);
    this.#tools = new Map();
    return called.map(({ tool, done, failed, refused, durations }) => {
      return { tool, done, failed, refused: [...refused], durations: durations.all };
    });
  }

  /** Adds the counts of another thread. */
  add(reports: readonly ToolReport[]): void {
    for (const { tool, done, failed, refused, durations } of reports) {
      const calls = this.of(tool);
      calls.done += done;
      calls.failed += failed;
      for (const [reason, count] of refused) calls.refused.set(reason, (calls.refused.get(reason) ?? 0) + count);
      calls.durations.add(durations);
    }
  }

  /** The counts of every registered tool, in registry order. */
  tools(): Iterable<ToolCalls> {
    return this.#tools.values();
  }
}
