/** Options of the front door: routes, rules, bounds, deadlines. Types only. */
import type { Log } from '../common/log.ts';
import type { Admission } from './checks/admission.ts';
import type { OriginRule } from './checks/origin.ts';
import type { Rates } from './checks/rates.ts';
import type { TlsFiles } from './library/tls.ts';
import type { RequestLog } from './measure/request-log.ts';
import type { Traffic } from './measure/traffic.ts';
import type { BodyParser, Route } from './route/route.ts';

export interface FrontDoorOptions {
  readonly routes: readonly Route[];
  readonly isBlockedAgent: (path: string, agent: string | undefined) => boolean;
  readonly clientAddress: (peer: string, forwardedFor: string | undefined) => string;
  readonly tls: TlsFiles | undefined;
  /** True when browsers reach this service over TLS, here or at a proxy in front. */
  readonly isSecure: boolean;
  readonly bodySeconds: number;
  readonly handlerSeconds: number;
  /** How long the reader of an answer may accept no bytes. */
  readonly stallSeconds: number;
  readonly origins: OriginRule;
  readonly rates: Rates;
  readonly traffic: Traffic;
  readonly requestLog: RequestLog;
  readonly admission: Admission;
  /** Parses the JSON body of a route without its own parser; a large one off this thread. */
  readonly parseJson: BodyParser;
  readonly log: Log;
  /** The port of the door that accepts connections for this one; undefined for a door that listens. */
  readonly acceptedAt?: number;
}
