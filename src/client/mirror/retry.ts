/** Decides whether a failed request is sent again, and when. Pure. */
import { limits } from '../../limits/service.ts';

export interface FailedAttempt {
  /** Attempts so far, from 1. */
  readonly attempt: number;
  readonly attemptsMax: number;
  /** Status of the answer; undefined: none arrived. */
  readonly status?: number;
  readonly retryAfter?: string | undefined;
  /** Code of the system error when no answer arrived; undefined: a timeout. */
  readonly code?: string | undefined;
  readonly nowMs: number;
  /** From 0 to 1: clients that failed together should not return together. */
  readonly random: number;
}

const TRANSIENT_STATUSES = [408, 429, 502, 503, 504];
/** Errors that pass, unlike an unknown host or an untrusted certificate. */
const TRANSIENT_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
];

/**
 * Milliseconds to wait before the next attempt; undefined: no further attempt. `Retry-After` (RFC 9110, 10.2.3) is
 * respected up to a limit; without it the wait doubles from attempt to attempt.
 */
export function retryWaitMs(failed: FailedAttempt): number | undefined {
  const { attempt, attemptsMax, status, code, random } = failed;
  if (attempt >= attemptsMax) return undefined;
  const isTransient =
    status === undefined ? code === undefined || TRANSIENT_CODES.includes(code) : TRANSIENT_STATUSES.includes(status);
  if (!isTransient) return undefined;
  const asked = retryAfterMs(failed);
  if (asked !== undefined) return asked > limits.backupRetryMsMax ? undefined : asked;
  const doubled = Math.min(limits.backupRetryMs * 2 ** (attempt - 1), limits.backupRetryMsMax);
  return Math.round(doubled * (0.5 + random / 2));
}

/** `Retry-After` as seconds or a date; undefined: absent or invalid. */
function retryAfterMs({ retryAfter, nowMs }: FailedAttempt): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,6}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const atMs = Date.parse(retryAfter);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
