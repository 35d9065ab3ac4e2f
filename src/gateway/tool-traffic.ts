/** Owns what is counted of tools: plain numbers by the name of a registered tool, that whoever measures reads when he wants them. */
import { Refusal } from '../common/fault.ts';
import { Histogram, type HistogramCounts } from '../common/histogram.ts';

/** What one thread counted of a tool, for another to add. */
export interface ToolReport {
  readonly tool: string;
  readonly done: number;
  readonly failed: number;
  readonly refused: readonly (readonly [reason: string, count: number])[];
  readonly durations: HistogramCounts;
}

/** The calls of one tool, whichever door they came through. */
export class ToolCalls {
  readonly tool: string;
  /** Calls that ended with a result. */
  done = 0;
  /** Calls that broke an assumption. */
  failed = 0;
  /** Calls that were refused, by the kind of the refusal. */
  readonly refused = new Map<string, number>();
  /** From finding the tool to its result, of all of them. */
  readonly durations = new Histogram();

  constructor(tool: string) {
    this.tool = tool;
  }

  /** Whether there was any call. */
  get isCalled(): boolean {
    return this.done > 0 || this.failed > 0 || this.refused.size > 0;
  }

  /** Counts a call that ended. `error`: what it threw; undefined: nothing. */
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

  /** The counts of a tool. Only names that are registered come here: there are only so many. */
  of(tool: string): ToolCalls {
    let calls = this.#tools.get(tool);
    if (calls === undefined) {
      calls = new ToolCalls(tool);
      this.#tools.set(tool, calls);
    }
    return calls;
  }

  /** What was counted since the last time. */
  take(): ToolReport[] {
    const called = [...this.#tools.values()].filter(({ isCalled }) => isCalled);
    this.#tools = new Map();
    return called.map(({ tool, done, failed, refused, durations }) => {
      return { tool, done, failed, refused: [...refused], durations: durations.all };
    });
  }

  /** Takes in what another thread counted. */
  add(reports: readonly ToolReport[]): void {
    for (const { tool, done, failed, refused, durations } of reports) {
      const calls = this.of(tool);
      calls.done += done;
      calls.failed += failed;
      for (const [reason, count] of refused) calls.refused.set(reason, (calls.refused.get(reason) ?? 0) + count);
      calls.durations.add(durations);
    }
  }

  /** Every tool that is registered, in the order of the registry. */
  tools(): Iterable<ToolCalls> {
    return this.#tools.values();
  }
}
