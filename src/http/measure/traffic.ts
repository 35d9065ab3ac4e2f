/** Counts the traffic of the front door by route, in plain numbers for the metrics. */
import { Histogram, type HistogramCounts } from '../../common/histogram.ts';
import type { RequestHead } from '../request/head.ts';
import type { ExchangeEnd } from './exchange-end.ts';

/** Counts of one thread, to add to those of another. */
export interface TrafficReport {
  readonly active: number;
  readonly routes: readonly {
    readonly method: string;
    readonly route: string;
    readonly statuses: readonly (readonly [status: number, count: number])[];
    readonly durations: HistogramCounts;
    readonly bytesIn: number;
    readonly bytesOut: number;
  }[];
}

/** Requests of one route and method. */
export class RouteTraffic {
  readonly method: string;
  /** The pattern, never the requested path: the number of patterns is bounded. */
  readonly route: string;
  /** Requests by status; requests cut off before an answer have status 0. */
  readonly statuses = new Map<number, number>();
  readonly durations = new Histogram();
  bytesIn = 0;
  bytesOut = 0;

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  add(end: ExchangeEnd): void {
    const status = end.status ?? 0;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    this.durations.record(end.ms);
    this.bytesIn += end.bytesIn;
    this.bytesOut += end.bytesOut;
  }
}

export class Traffic {
  #routes = new Map<string, Map<string, RouteTraffic>>();
  #active = 0;
  /** Active requests by thread. */
  readonly #activeElsewhere = new Map<number, number>();

  /** Requests not answered yet, or whose answer is still being sent. */
  get active(): number {
    return [...this.#activeElsewhere.values()].reduce((sum, active) => sum + active, this.#active);
  }

  /** Returns the counts since the last call and resets them. */
  take(): TrafficReport {
    const routes = [...this.routes()].map(({ method, route, statuses, durations, bytesIn, bytesOut }) => {
      return { method, route, statuses: [...statuses], durations: durations.all, bytesIn, bytesOut };
    });
    this.#routes = new Map();
    return { active: this.#active, routes };
  }

  /** Adds the counts of another thread. */
  add(thread: number, { active, routes }: TrafficReport): void {
    this.#activeElsewhere.set(thread, active);
    for (const { method, route, statuses, durations, bytesIn, bytesOut } of routes) {
      const row = this.#row(method, route);
      for (const [status, count] of statuses) row.statuses.set(status, (row.statuses.get(status) ?? 0) + count);
      row.durations.add(durations);
      row.bytesIn += bytesIn;
      row.bytesOut += bytesOut;
    }
  }

  begin(): void {
    this.#active += 1;
  }

  /** Counts one ended request. All requests without a route share one row, whatever their method and path. */
  record(head: RequestHead, route: string, end: ExchangeEnd): void {
    this.#active -= 1;
    this.#row(route === '' ? '' : head.method, route).add(end);
  }

  #row(method: string, route: string): RouteTraffic {
    let methods = this.#routes.get(route);
    if (methods === undefined) {
      methods = new Map();
      this.#routes.set(route, methods);
    }
    let row = methods.get(method);
    if (row === undefined) {
      row = new RouteTraffic(method, route);
      methods.set(method, row);
    }
    return row;
  }

  /** Every route and method with traffic. */
  *routes(): Generator<RouteTraffic> {
    for (const methods of this.#routes.values()) yield* methods.values();
  }
}
