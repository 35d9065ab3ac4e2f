/** Pure decisions of device sign-in: codes, labels, scopes, polling (RFC 8628), rotation of refresh tokens. */
import { type OAuthError, Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import type { DeviceGrantRecord, SignInRecord } from './records.ts';

/** The 20 consonants that RFC 8628, 6.1 proposes: no vowels, so no words; nothing that looks alike. */
const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_CHARS = 8;
const USER_CODE = new RegExp(`^[${USER_CODE_LETTERS}]{${USER_CODE_CHARS}}$`);
/** Longest input that is looked at as a user code: the code itself with room for spaces and dashes. */
const USER_CODE_INPUT_CHARS_MAX = 64;

/**
 * What a grant may be for: `read` reads, `write` also changes; `account` is both, as every device has it; `mcp` is both and
 * adds an MCP key.
 */
export const SCOPES = ['read', 'write', 'account', 'mcp'] as const;

/** What the gateway's tools need. Clients ask for all that a resource lists (MCP, scope selection), so it lists no more. */
export const RESOURCE_SCOPES = ['read', 'write'] as const;

/** True for a scope that changes nothing. */
export function isReadOnly(scope: string): boolean {
  return scope === 'read';
}

/** Refuses with an error of the OAuth specifications. */
export function oauthRefusal(error: OAuthError, detail: string): Refusal {
  return new Refusal({ kind: 'oauth', error, detail });
}

/** Makes a user code of 34 bits; `randomBelow` gives a whole number from 0 to below its argument. */
export function makeUserCode(randomBelow: (end: number) => number): string {
  const letters = Array.from(
    { length: USER_CODE_CHARS },
    () => USER_CODE_LETTERS[randomBelow(USER_CODE_LETTERS.length)],
  );
  return letters.join('');
}

/** A user code as it is shown: `BCDF-GHJK`. */
export function showUserCode(code: string): string {
  return `${code.slice(0, USER_CODE_CHARS / 2)}-${code.slice(USER_CODE_CHARS / 2)}`;
}

/** The code that was typed, whatever its case, dashes and spaces; undefined: none (RFC 8628, 6.1). */
export function readUserCode(typed: string): string | undefined {
  if (typed.length > USER_CODE_INPUT_CHARS_MAX) return undefined;
  const code = typed.toUpperCase().replace(/[\s\p{P}]/gu, '');
  return USER_CODE.test(code) ? code : undefined;
}

/** A label that is shown to a person. Refuses with `invalid_request`. */
export function readLabel(name: string, value: string, charsMax: number): string {
  const trimmed = value.trim();
  // Control, format (bidi, zero width) and unassigned characters could make it read as something else.
  if (trimmed === '' || trimmed.length > charsMax || /[\p{C}\p{Zl}\p{Zp}\u{fffd}]/u.test(trimmed)) {
    throw oauthRefusal('invalid_request', `${name} must have 1 to ${charsMax} printable characters`);
  }
  return trimmed;
}

/** The scope to grant, in a stable order; `account` unless another is asked for. Refuses with `invalid_scope`. */
export function readScope(asked: string | undefined): string {
  if (asked === undefined) return 'account';
  const names = asked.split(' ');
  const isKnown = names.every((name) => (SCOPES as readonly string[]).includes(name));
  if (!isKnown) throw oauthRefusal('invalid_scope', `scope may hold ${SCOPES.join(', ')}, separated by one space`);
  return SCOPES.filter((name) => names.includes(name)).join(' ');
}

/** Refuses with `invalid_scope` when a refresh asks for more than was granted (RFC 6749, 6). */
export function checkScopeWithin(granted: string, asked: string | undefined): void {
  if (asked === undefined) return;
  const names = granted.split(' ');
  if (!asked.split(' ').every((name) => names.includes(name))) {
    throw oauthRefusal('invalid_scope', `scope may hold what was granted, which is ${granted}`);
  }
}

/** How often one device polled; kept in memory, because forgetting it costs one early answer. */
export interface PollPace {
  readonly intervalSeconds: number;
  readonly polledMs: number;
}

export type PollDecision =
  | { readonly kind: 'approved'; readonly accountId: string }
  | { readonly kind: 'refused'; readonly error: OAuthError; readonly detail: string; readonly pace?: PollPace };

/** What a poll is answered (RFC 8628, 3.5). Polling too early makes every later interval longer by five seconds. */
export function decidePoll(
  grant: DeviceGrantRecord | undefined,
  clientId: string,
  pace: PollPace | undefined,
  nowMs: number,
): PollDecision {
  const refuse = (error: OAuthError, detail: string) => ({ kind: 'refused', error, detail }) as const;
  if (grant === undefined) return refuse('invalid_grant', 'this device code is unknown or was used; ask for a new one');
  if (grant.client_id !== clientId) return refuse('invalid_grant', 'this device code was given to another client_id');
  if (grant.expires_ms <= nowMs) return refuse('expired_token', 'the codes have expired; ask for new ones');
  if (grant.status === 'denied') return refuse('access_denied', 'the user refused this device');
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

/** What a presented refresh token means for its sign-in. */
export type RefreshDecision = 'rotate' | 'retry' | 'replay' | 'expired' | 'ended' | 'foreign';

/**
 * A token is exchanged once. The one before the one in force is taken once more for a short while, because an answer
 * can get lost; any other that was issued earlier is a copy in other hands, and ends the sign-in.
 * Hashes are compared as text: nobody can choose what a keyed hash comes out as.
 */
export function decideRefresh(
  signIn: SignInRecord | undefined,
  presented: { readonly hash: string; readonly clientId: string | undefined },
  nowMs: number,
): RefreshDecision {
  if (signIn === undefined) return 'ended';
  if (presented.clientId !== undefined && presented.clientId !== signIn.client_id) return 'foreign';
  if (signIn.expires_ms <= nowMs) return 'expired';
  if (presented.hash === signIn.current_hash) return 'rotate';
  const { previous } = signIn;
  const isRetry =
    previous !== null &&
    presented.hash === previous.hash &&
    !previous.isRetried &&
    nowMs - signIn.rotated_ms <= limits.refreshRetryMs;
  return isRetry ? 'retry' : 'replay';
}
