/** Starts reading the body of a request: its maximum size, the memory counted for its caller, and its deadline. */
import type { Principal } from '../common/principal.ts';
import { limits } from '../limits/service.ts';
import type { Admission } from './checks/admission.ts';
import type { Exchange } from './exchange.ts';
import type { IncomingBody } from './request/body.ts';
import type { BodyRule } from './route/route.ts';

export interface BodyTimes {
  readonly admission: Admission;
  readonly bodySeconds: number;
  readonly handlerSeconds: number;
}

/** A body rule as applied to one caller. */
type AppliedRule = BodyRule & { readonly forStrangers?: true };

/** The rules for callers without a credential, by the rule of the route. */
const ofStrangers = new WeakMap<BodyRule, AppliedRule>();

/** The body rule of a route for this caller: a caller without a credential may send only a small body. */
export function ruleFor(rule: BodyRule, principal: Principal | undefined): AppliedRule {
  if (principal !== undefined || rule.kind === 'none' || rule.bytesMax <= limits.strangerBodyBytesMax) return rule;
  const known = ofStrangers.get(rule);
  if (known !== undefined) return known;
  const applied: AppliedRule = { ...rule, bytesMax: limits.strangerBodyBytesMax, forStrangers: true };
  ofStrangers.set(rule, applied);
  return applied;
}

/**
 * Starts reading the body and sets the deadlines. Must run in the turn in which the request arrived. `isKnown`: the
 * caller has a valid credential. Returns undefined when the route accepts no body. Throws Refusal `overloaded` when the
 * caller's share of the memory is used up.
 */
export function openBody(
  exchange: Exchange,
  rule: BodyRule,
  isKnown: boolean,
  { admission, bodySeconds, handlerSeconds }: BodyTimes,
): IncomingBody | undefined {
  const { head } = exchange;
  const startHandlerTime = () => exchange.expireIn(handlerSeconds, { kind: 'handler_late', seconds: handlerSeconds });
  if (rule.kind === 'none' || !head.hasBody) startHandlerTime();
  else {
    const seconds = isKnown ? bodySeconds : Math.min(bodySeconds, limits.strangerBodySeconds);
    exchange.expireIn(seconds, { kind: 'body_late', seconds }, isKnown ? limits.bodyBytesPerSecondMin : undefined);
  }
  // A body that the route does not accept is left unread: the library discards it.
  if (rule.kind === 'none') return undefined;
  if (!head.hasBody) return exchange.openBody(rule.bytesMax, startHandlerTime);
  const shares = rule.kind === 'stream' ? admission.uploads : admission.documents;
  const first = Math.min(head.bytesDeclared ?? rule.bytesMax, limits.bodyBytesAhead);
  return exchange.openBody(rule.bytesMax, startHandlerTime, shares.lease(exchange.caller, first));
}
