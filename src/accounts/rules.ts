/** Decides the shapes and limits of accounts and keys, and which emails are the same. Pure. */
import { invalidField, Refusal } from '../common/fault.ts';
import { limits } from '../limits/service.ts';
import { hasInk } from '../text/visible.ts';
import { hasEnded, isDueAgain } from '../time/truth.ts';
import type { BrowserSessionRecord, KeyKind, KeyRecord } from './records.ts';

/** 32 letters and digits without look-alikes; 24 of them are 120 bits. */
const ACCOUNT_KEY_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const ACCOUNT_KEY_CHARS = 24;
const MCP_KEY_BYTES = 32;

/** Normalizes an email: trimmed, in lower case, in Unicode form NFC. Throws Refusal when it cannot be an address. */
export function normalizeEmail(email: string): string {
  const trimmed = email.trim().toLowerCase().normalize('NFC');
  if (trimmed.length > limits.emailCharsMax || !/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(trimmed)) {
    throw invalidField(
      'email',
      `email must look like name@example.org and have at most ${limits.emailCharsMax} characters`,
    );
  }
  return trimmed;
}

/** Returns a display name trimmed. Throws Refusal when it is empty, too long or not printable. */
export function checkName(field: string, name: string): string {
  const trimmed = name.trim();
  if (!hasInk(trimmed) || trimmed.length > limits.nameCharsMax || /\p{C}/u.test(trimmed)) {
    throw invalidField(field, `${field} must have 1 to ${limits.nameCharsMax} printable characters`);
  }
  return trimmed;
}

/** Returns the kind of key that a value can be by its shape; undefined: none. */
export function kindOfKey(presented: string): KeyKind | undefined {
  if (/^[0-9a-f]{64}$/.test(presented)) return 'mcp';
  if (/^[a-z2-9]{24}$/.test(presented)) return 'account';
  return undefined;
}

/** Generates a key from random bytes: 64 hex characters (MCP), or 24 of a 32-letter alphabet (account). */
export function makeKey(kind: KeyKind, random: (bytes: number) => Uint8Array): string {
  if (kind === 'mcp') return Buffer.from(random(MCP_KEY_BYTES)).toString('hex');
  // 256 is a multiple of 32, so taking the low five bits keeps every letter equally likely.
  return [...random(ACCOUNT_KEY_CHARS)].map((byte) => ACCOUNT_KEY_ALPHABET[byte & 31]).join('');
}

/** Throws Refusal when the account already has the maximum of MCP keys. */
export function checkKeyLimit(existing: readonly KeyRecord[]): void {
  const live = existing.filter((key) => key.kind === 'mcp' && key.revoked_at === null).length;
  if (live >= limits.accountKeysLiveMax) {
    throw new Refusal({ kind: 'key_limit', keysMax: limits.accountKeysLiveMax });
  }
}

/** True when the last recorded use is at least a minute old, so a use at `nowMs` is worth recording. */
export function isUseWorthWriting(lastUsedAt: string | null, nowMs: number): boolean {
  return lastUsedAt === null || isDueAgain(Date.parse(lastUsedAt), nowMs, limits.lastUsedMs);
}

/** Whom the operator of a hub requires to have a second factor. */
export type SecondFactorRule = 'off' | 'operators' | 'everybody';

/** True when an account must have a second factor. */
export function isSecondFactorRequired(
  rule: SecondFactorRule,
  { isOperator }: { readonly isOperator: boolean },
): boolean {
  return rule === 'everybody' || (rule === 'operators' && isOperator);
}

/** True while a browser session has exceeded neither its idle time nor its maximum age. */
export function isSessionLive({ created_ms, seen_ms }: BrowserSessionRecord, nowMs: number): boolean {
  const lifeMs = limits.browserSessionSeconds * 1000;
  return nowMs - seen_ms < limits.browserSessionIdleSeconds * 1000 && !hasEnded(created_ms + lifeMs, nowMs, lifeMs);
}

/** Returns the sessions to end when another starts: expired ones, and above the maximum the least recently seen. */
export function surplusSessions(
  sessions: readonly { readonly hash: string; readonly record: BrowserSessionRecord }[],
  nowMs: number,
): string[] {
  const live = sessions
    .filter(({ record }) => isSessionLive(record, nowMs))
    .sort((a, b) => b.record.seen_ms - a.record.seen_ms);
  const kept = new Set(live.slice(0, limits.browserSessionsMax - 1));
  return sessions.filter((session) => !kept.has(session)).map(({ hash }) => hash);
}
