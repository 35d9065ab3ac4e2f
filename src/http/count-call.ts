/** Counts a call against the rate of its caller, and defers some refusals until the body has named the request. */
import { Refusal } from '../common/fault.ts';
import type { Rates } from './checks/rates.ts';
import type { Exchange } from './exchange.ts';
import { isSmallJson } from './route/check-body.ts';
import type { Route } from './route/route.ts';

/**
 * Counts a call. Above the rate, throws Refusal `rate_limited`, or returns it when the route names requests and the
 * body is small enough to read for that.
 */
export function countCall(rates: Rates, exchange: Exchange, route: Route, caller: string): Refusal | undefined {
  try {
    if (route.uncounted !== true) exchange.addHeaders(rates.count(caller));
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && route.namesRequest === true && isSmallJson(exchange.head)) return error;
    throw error;
  }
}
