/** Counts the traffic of the front door by route, in plain numbers for the metrics. */
import { Histogram } from '../../common/histogram.ts';
import type { RequestHead } from '../request/head.ts';
import type { ExchangeEnd } from './exchange-end.ts';

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
  #active = 0;
  readonly #routes = new Map<string, Map<string, RouteTraffic>>();

  /** Requests not answered yet, or whose answer is still being sent. */
  get active(): number {
    return this.#active;
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
