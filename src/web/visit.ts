/** Describes one request of a browser: the visitor, the address, and the time zone. */
import type { TimeZones } from '../accounts/time-zones.ts';
import type { RemoteSource } from '../audit/records.ts';
import type { RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import type { ZoneFormat } from './zone-format.ts';

export interface Visit {
  readonly request: RouteRequest;
  /** Identifies the browser: a session id, or for a visitor a random id without any access. */
  readonly browserId: string;
  /** The id is new, and is set as a cookie by the answer. */
  readonly isNew: boolean;
  readonly csrf: string;
  readonly zone: ZoneFormat;
  /** The cookie that marks a browser as having signed in before. */
  readonly mark: string | undefined;
  /** The source of the request, for the security events. */
  readonly source: RemoteSource;
  /** The browser sent its time zone; if not, `zone` is UTC. */
  readonly isZoneTold: boolean;
  /** The browser is signed in to a disabled account. */
  readonly isShut: boolean;
}

export interface MemberVisit extends Visit {
  readonly accountId: string;
  readonly sessionId: string;
  readonly email: string;
  readonly isOperator: boolean;
  /** The state of the account when the request arrived; later reads are at least as new. */
  readonly liveMark: string;
}

/** Sent with the request of an open page for itself: the states of the blocks that it shows. */
export const LIVE_HEADER = 'x-live';

/** Sent with a form by an open page: its path. An answer at another path is not shown by that page, but asked for again. */
export const SHOWN_HEADER = 'x-shown';

/** The states of the blocks that an open page already shows, and that its renewal need not contain. */
export function shownStates({ request }: Visit): ReadonlySet<string> {
  return new Set(request.header(LIVE_HEADER)?.split(' '));
}

/** What a page can depend on: it is renewed when this changes. */
export type LiveTopic = 'tasks' | 'vaults' | 'documents' | 'mirror' | 'account';

/** The name under which a change made on a page is recorded. */
export function browserOf({ source }: Visit): string {
  return browserName(source.agent).slice(0, limits.changedByCharsMax);
}

/** The same, as the author of a file. */
export function authorOf(visit: Visit): string {
  return browserOf(visit).slice(0, limits.deviceIdCharsMax);
}

/** True for what was done at this browser, or one like it: pages call its person “you”. */
export function isYou(visit: Visit, name: string): boolean {
  return name === browserOf(visit) || name === authorOf(visit);
}

export function isMember(visit: Visit | MemberVisit): visit is MemberVisit {
  return 'accountId' in visit;
}

/** Today, YYYY-MM-DD, in the zone set in the account, which applies on all devices; without one, in the browser's. */
export function todayOf(timeZones: TimeZones, { accountId, zone }: MemberVisit, nowMs: number): string {
  return timeZones.chosen(accountId) === null ? zone.day(nowMs) : timeZones.of(accountId).dayOf(nowMs);
}

/** The order matters: most browsers also name the families below them. */
const FAMILIES: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** For example `Firefox on Linux`; for an unknown browser, its User-Agent. */
export function browserName(agent: string | null): string {
  if (agent === null) return 'a browser without a name';
  const family = FAMILIES.find(([mark]) => mark.test(agent))?.[1];
  const system = SYSTEMS.find(([mark]) => mark.test(agent))?.[1];
  if (family === undefined) return agent;
  return system === undefined ? family : `${family} on ${system}`;
}
