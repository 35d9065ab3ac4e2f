/** Owns what is known of one request of a browser: who asks, from where, in which time zone. */
import type { RemoteSource } from '../audit/records.ts';
import type { RouteRequest } from '../http/route/route.ts';
import type { ZoneFormat } from './zone-format.ts';

/** One request of a browser. */
export interface Visit {
  readonly request: RouteRequest;
  /** What the browser is known by: a session id, or of one that is not signed in an id that opens nothing. */
  readonly browserId: string;
  /** The id is new, and goes out with the answer. */
  readonly isNew: boolean;
  readonly csrf: string;
  readonly zone: ZoneFormat;
  /** What a browser keeps that has signed in before. */
  readonly mark: string | undefined;
  /** Who asks, for the security events. */
  readonly source: RemoteSource;
  /** The browser told its zone; else `zone` is UTC. */
  readonly isZoneTold: boolean;
  /** The browser is signed in to an account that was disabled. */
  readonly isShut: boolean;
}

/** One request of a browser that is signed in. */
export interface MemberVisit extends Visit {
  readonly accountId: string;
  readonly sessionId: string;
  readonly email: string;
  readonly isOperator: boolean;
  /** The state of the account when the request came in; what is read later is at least as new. */
  readonly liveMark: string;
}

export function isMember(visit: Visit | MemberVisit): visit is MemberVisit {
  return 'accountId' in visit;
}
