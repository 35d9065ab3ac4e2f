/** Decides codes, labels, scopes, polling (RFC 8628) and the rotation of refresh tokens. Pure. */
import { type OAuthError, Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import { hasInk } from '../text/visible.ts';
import { hasEnded } from '../time/truth.ts';
import type { DeviceGrantRecord, SignInRecord } from './records.ts';

/** The 20 consonants proposed by RFC 8628, 6.1: no vowels, so no words; no look-alikes. */
const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_CHARS = 8;
const USER_CODE = new RegExp(`^[${USER_CODE_LETTERS}]{${USER_CODE_CHARS}}$`);
/** Maximum length of typed input: the user code with room for spaces and dashes. */
const USER_CODE_INPUT_CHARS_MAX = 64;

/** Scopes: `read` reads, `write` also changes; `account` is both, the device default; `mcp` also adds an MCP key. */
export const SCOPES = ['read', 'write', 'account', 'mcp'] as const;

/** Scopes needed by the gateway's tools, and no more: MCP clients request every listed scope (MCP, scope selection). */
export const RESOURCE_SCOPES = ['read', 'write'] as const;

/** True for the read-only scope. */
export function isReadOnly(scope: string): boolean {
  return scope === 'read';
}

/** Returns a Refusal with an error of the OAuth specifications. */
export function oauthRefusal(error: OAuthError, detail: string): Refusal {
  return new Refusal({ kind: 'oauth', error, detail });
}

/** Generates a user code of 34 bits; `randomBelow` returns an integer from 0 to below its argument. */
export function makeUserCode(randomBelow: (end: number) => number): string {
  const letters = Array.from(
    { length: USER_CODE_CHARS },
    () => USER_CODE_LETTERS[randomBelow(USER_CODE_LETTERS.length)],
  );
  return letters.join('');
}

/** Formats a user code for display: `BCDF-GHJK`. */
export function showUserCode(code: string): string {
  return `${code.slice(0, USER_CODE_CHARS / 2)}-${code.slice(USER_CODE_CHARS / 2)}`;
}

/** Returns the typed code, ignoring case, dashes and spaces; undefined: not a code (RFC 8628, 6.1). */
export function readUserCode(typed: string): string | undefined {
  if (typed.length > USER_CODE_INPUT_CHARS_MAX) return undefined;
  const code = typed.toUpperCase().replace(/[\s\p{P}]/gu, '');
  return USER_CODE.test(code) ? code : undefined;
}

/** Reads a label to display to people. Throws Refusal `invalid_request`. */
export function readLabel(name: string, value: string, charsMax: number): string {
  const trimmed = value.trim();
  // Control, format (bidi, zero width) and unassigned characters could disguise it.
  if (!hasInk(trimmed) || trimmed.length > charsMax || /[\p{C}\p{Zl}\p{Zp}\u{fffd}]/u.test(trimmed)) {
    throw oauthRefusal('invalid_request', `${name} must have 1 to ${charsMax} printable characters`);
  }
  return trimmed;
}

/** Returns the scope to grant, in a stable order; default `account`. Throws Refusal `invalid_scope`. */
export function readScope(asked: string | undefined): string {
  if (asked === undefined) return 'account';
  const names = asked.split(' ');
  const isKnown = names.every((name) => (SCOPES as readonly string[]).includes(name));
  if (!isKnown) throw oauthRefusal('invalid_scope', `scope may contain ${SCOPES.join(', ')}, separated by one space`);
  return SCOPES.filter((name) => names.includes(name)).join(' ');
}

/** Throws Refusal `invalid_scope` when a refresh requests more than was granted (RFC 6749, 6). */
export function checkScopeWithin(granted: string, asked: string | undefined): void {
  if (asked === undefined) return;
  const names = granted.split(' ');
  if (!asked.split(' ').every((name) => names.includes(name))) {
    throw oauthRefusal('invalid_scope', `scope must be a part of the granted one: ${granted}`);
  }
}

/** Poll interval of a device; kept in memory, because losing it costs only one early answer. */
export interface PollPace {
  readonly intervalSeconds: number;
  readonly polledMs: number;
}

export type PollDecision =
  | { readonly kind: 'approved'; readonly accountId: string }
  | { readonly kind: 'refused'; readonly error: OAuthError; readonly detail: string; readonly pace?: PollPace };

/** Decides the answer to a poll (RFC 8628, 3.5). Each early poll adds five seconds to all later intervals. */
export function decidePoll(
  grant: DeviceGrantRecord | undefined,
  clientId: string,
  pace: PollPace | undefined,
  nowMs: number,
): PollDecision {
  const refuse = (error: OAuthError, detail: string) => ({ kind: 'refused', error, detail }) as const;
  if (grant === undefined) return refuse('invalid_grant', 'this device code is unknown or was used; request a new one');
  if (grant.client_id !== clientId) return refuse('invalid_grant', 'this device code was issued to another client_id');
  if (hasEnded(grant.expires_ms, nowMs, limits.deviceCodeSeconds * 1000))
    return refuse('expired_token', 'the codes have expired; request new ones');
  if (grant.status === 'denied') return refuse('access_denied', 'the user denied this device');
  if (grant.status === 'approved' && grant.account_id !== null) {
    return { kind: 'approved', accountId: grant.account_id };
  }
  const interval = pace?.intervalSeconds ?? limits.devicePollSeconds;
  const isEarly = pace !== undefined && nowMs - pace.polledMs < interval * 1000 - limits.devicePollSlackMs;
  if (!isEarly) {
    return {
      ...refuse('authorization_pending', 'the user has not answered yet; poll again after the interval'),
      pace: { intervalSeconds: interval, polledMs: nowMs },
    };
  }
  const slower = interval + limits.devicePollStepSeconds;
  return {
    ...refuse('slow_down', `wait ${slower} s between polls from now on`),
    pace: { intervalSeconds: slower, polledMs: nowMs },
  };
}

/** True when a sign-in has expired, or was made by a clock that was wrong: it would last until that time. */
export function isSignInOver({ created_at: createdAt, expires_ms: expiresMs }: SignInRecord, nowMs: number): boolean {
  const lifeMs = limits.deviceSignInSeconds * 1000;
  return expiresMs <= nowMs || hasEnded(Date.parse(createdAt) + lifeMs, nowMs, lifeMs);
}

/** Meaning of a presented refresh token for its sign-in. */
export type RefreshDecision = 'rotate' | 'retry' | 'replay' | 'restored' | 'expired' | 'ended' | 'foreign';

/**
 * A token is exchanged once. The previous token is accepted once more for a short time, because a response can be
 * lost; any other token issued earlier is a stolen copy, and ends the sign-in. In a data file that was restored since,
 * the device may have had newer tokens: it signs in again, and nobody is alarmed.
 * Hashes are compared as text: nobody can choose the result of a keyed hash.
 */
export function decideRefresh(
  signIn: SignInRecord | undefined,
  presented: { readonly hash: string; readonly clientId: string },
  nowMs: number,
  epoch: string,
): RefreshDecision {
  if (signIn === undefined) return 'ended';
  if (presented.clientId !== signIn.client_id) return 'foreign';
  if (isSignInOver(signIn, nowMs)) return 'expired';
  if (presented.hash === signIn.current_hash) return 'rotate';
  const { previous } = signIn;
  const isRetry =
    previous !== null &&
    presented.hash === previous.hash &&
    !previous.isRetried &&
    nowMs - signIn.rotated_ms <= limits.refreshRetryMs;
  if (isRetry) return 'retry';
  return signIn.epoch === undefined || signIn.epoch === epoch ? 'replay' : 'restored';
}
