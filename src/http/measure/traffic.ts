/** Owns what the front door counts: plain numbers by route, that whoever measures the service reads when he wants them. */
import { Histogram } from '../../common/histogram.ts';
import type { RequestHead } from '../request/head.ts';
import type { ExchangeEnd } from './exchange-end.ts';

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
  readonly #routes = new Map<string, Map<string, RouteTraffic>>();
  #active = 0;

  /** Requests that are not answered yet, or whose answer is not sent yet. */
  get active(): number {
    return this.#active;
  }

  begin(): void {
    this.#active += 1;
  }

  /** Counts one request that ended. What matched no route is one row, whatever its method and path were. */
  record(head: RequestHead, route: string, end: ExchangeEnd): void {
    this.#active -= 1;
    const method = route === '' ? '' : head.method;
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
    row.add(end);
  }

  /** Every route and method that anything came in on. */
  *routes(): Generator<RouteTraffic> {
    for (const methods of this.#routes.values()) yield* methods.values();
  }
}
