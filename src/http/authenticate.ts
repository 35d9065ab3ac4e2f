/** Authenticates a request, synchronously or asynchronously. Counts a refused credential against the client address. */
import { Refusal } from '../common/fault.ts';
import { canStepUp, type Principal } from '../common/principal.ts';
import type { Rates } from './checks/rates.ts';
import type { Exchange } from './exchange.ts';
import type { Route } from './route/route.ts';

/** Returns the principal of the credential, or undefined when the route allows none. Throws or rejects with a Refusal. */
export function authenticate(
  exchange: Exchange,
  route: Route,
  rates: Rates,
): Principal | undefined | Promise<Principal> {
  const { access } = route;
  if (access === 'open') return undefined;
  if (typeof access === 'object' && 'visitor' in access) {
    const visitor = access.visitor((name) => exchange.head.header(name));
    exchange.accountId = visitor?.accountId;
    return visitor;
  }
  const authorization = exchange.head.header('authorization');
  if (typeof access === 'object' && authorization === undefined) return undefined;
  try {
    const principal = (typeof access === 'object' ? access.optional : access)(authorization);
    if (principal instanceof Promise) return authenticateLater(exchange, route, principal, rates);
    exchange.accountId = principal.accountId;
    checkReadOnly(route, principal);
    return principal;
  } catch (error) {
    countRefused(exchange, error, rates);
    throw error;
  }
}

async function authenticateLater(
  exchange: Exchange,
  route: Route,
  pending: Promise<Principal>,
  rates: Rates,
): Promise<Principal> {
  try {
    const principal = await pending;
    exchange.accountId = principal.accountId;
    checkReadOnly(route, principal);
    return principal;
  } catch (error) {
    countRefused(exchange, error, rates);
    throw error;
  }
}

/** A check that could not be made is not the caller's failure. Throws Refusal `rate_limited`. */
function countRefused({ head }: Exchange, error: unknown, rates: Rates): void {
  const isCaller = error instanceof Refusal && error.fault.kind === 'unauthenticated';
  if (isCaller) rates.countFailure(head.address);
}

/** A read-only principal may only GET, unless the handler of the route decides (a route that both reads and writes). */
function checkReadOnly({ method, scope, writes = 'this request' }: Route, principal: Principal): void {
  if (principal.readOnly !== true || method === 'GET' || scope === 'by_handler') return;
  throw new Refusal({ kind: 'insufficient_scope', what: writes, canStepUp: canStepUp(principal) });
}
