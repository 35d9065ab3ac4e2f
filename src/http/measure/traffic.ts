/** Owns what the front door counts: plain numbers by route, that whoever measures the service reads when he wants them. */
import { Histogram, type HistogramCounts } from '../../common/histogram.ts';
import type { RequestHead } from '../request/head.ts';
import type { ExchangeEnd } from './exchange-end.ts';

/** What one thread counted, for another to add. */
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

/** What came in on one route with one method. */
export class RouteTraffic {
  readonly method: string;
  /** The pattern, never the path that was asked for: there are only so many. */
  readonly route: string;
  /** Requests by status; those that were cut off before an answer have the status 0. */
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
  /** By thread. */
  readonly #activeElsewhere = new Map<number, number>();

  /** Requests that are not answered yet, or whose answer is not sent yet. */
  get active(): number {
    return [...this.#activeElsewhere.values()].reduce((sum, active) => sum + active, this.#active);
  }

  /** What was counted since the last time. */
  take(): TrafficReport {
    const routes = [...this.routes()].map(({ method, route, statuses, durations, bytesIn, bytesOut }) => {
      return { method, route, statuses: [...statuses], durations: durations.all, bytesIn, bytesOut };
    });
    this.#routes = new Map();
    return { active: this.#active, routes };
  }

  /** Takes in what another thread counted. */
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

  /** Counts one request that ended. What matched no route is one row, whatever its method and path were. */
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

  /** Every route and method that anything came in on. */
  *routes(): Generator<RouteTraffic> {
    for (const methods of this.#routes.values()) yield* methods.values();
  }
}
