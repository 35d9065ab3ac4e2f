/** Owns how the body of a request is taken: how large it may be, what of it is counted for whom, and until when it must be there. */
import type { Session } from '../common/session.ts';
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

/** A rule as it applies to one caller. */
type AppliedRule = BodyRule & { readonly forStrangers?: true };

/** The rule of a route as it is for this caller: little is taken from somebody unknown. */
export function ruleFor(rule: BodyRule, session: Session | undefined): AppliedRule {
  if (session !== undefined || rule.kind === 'none' || rule.bytesMax <= limits.strangerBodyBytesMax) return rule;
  return { ...rule, bytesMax: limits.strangerBodyBytesMax, forStrangers: true };
}

/**
 * Takes the body from here on and sets the deadlines; in the turn in which the request came in. `isKnown`: with a valid
 * credential. Undefined: the route takes none. Throws Refusal `overloaded` when the caller has no share of the memory left.
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
  // A body that the route does not take is left unread: the library discards it.
  if (rule.kind === 'none') return undefined;
  if (!head.hasBody) return exchange.openBody(rule.bytesMax, startHandlerTime);
  const shares = rule.kind === 'stream' ? admission.uploads : admission.documents;
  const first = Math.min(head.bytesDeclared ?? rule.bytesMax, limits.bodyBytesAhead);
  return exchange.openBody(rule.bytesMax, startHandlerTime, shares.lease(exchange.caller, first));
}
