/** Counts calls per registered tool, for the metrics. */
import { Refusal } from '../common/fault.ts';
import { Histogram } from '../common/histogram.ts';

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
  readonly #tools = new Map<string, ToolCalls>();

  /** The counts of a tool. Call only with registered names, so that the map stays bounded. */
  of(tool: string): ToolCalls {
    let calls = this.#tools.get(tool);
    if (calls === undefined) {
      calls = new ToolCalls(tool);
      this.#tools.set(tool, calls);
    }
    return calls;
  }

  /** The counts of every registered tool, in registry order. */
  tools(): Iterable<ToolCalls> {
    return this.#tools.values();
  }
}
