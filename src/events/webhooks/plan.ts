/** Decides what a delivery is signed with, what follows from its outcome, and when the next try is. Pure. */
import { createHmac } from 'node:crypto';
import { limits } from '../../limits/service.ts';
import type { EventPosition } from '../position.ts';
import type { WebhookDelivery, WebhookRecord } from './records.ts';

/** Result of one try. `error`: what went wrong, as a sentence. */
export interface PostOutcome {
  readonly status: number | null;
  readonly error: string | null;
}

const SECRET_PREFIX = 'whsec_';
/** The receiver wants nothing more: it answers 410. */
const GONE = 410;
const DAY_MS = 86_400_000;

/** A secret in the form of Standard Webhooks. */
export function secretText(secret: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(secret).toString('base64');
}

/** The header `webhook-signature`: one signature for each secret that is valid. */
export function signatures(
  secrets: readonly Uint8Array[],
  { id, seconds, body }: { readonly id: string; readonly seconds: number; readonly body: string },
): string {
  const signed = `${id}.${seconds}.${body}`;
  return secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`).join(' ');
}

/** The pause after a number of failed tries: longer each time, up to a longest, and a fifth more or less. */
export function pauseMs(tries: number, random: number): number {
  const pauses = limits.webhookPausesMs;
  const pause = pauses[Math.min(tries, pauses.length) - 1] ?? 0;
  return Math.round(pause * (0.8 + 0.4 * random));
}

interface Try {
  readonly delivery: Omit<WebhookDelivery, 'at_ms' | 'status' | 'error'>;
  readonly outcome: PostOutcome;
  /** After the event. */
  readonly position: EventPosition;
  readonly nowMs: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** The webhook after a try. A delivered event moves its position; another is tried again, or disables it. */
export function afterTry(record: WebhookRecord, { delivery, outcome, position, nowMs, random }: Try): WebhookRecord {
  const { status, error } = outcome;
  const made = { ...delivery, at_ms: nowMs, status, error };
  const deliveries = [made, ...record.deliveries].slice(0, limits.webhookDeliveriesKept);
  if (error === null) return { ...record, deliveries, position, tries: 0, failing_since_ms: null, next_ms: 0 };
  const tries = record.tries + 1;
  const since = Math.min(record.failing_since_ms ?? nowMs, nowMs);
  const failed = { ...record, deliveries, tries, failing_since_ms: since, next_ms: nowMs + pauseMs(tries, random) };
  if (status === GONE) return { ...failed, disabled: 'the address answered 410: it wants no more events' };
  if (nowMs - since < limits.webhookFailDays * DAY_MS) return failed;
  return { ...failed, disabled: `no event could be delivered for ${limits.webhookFailDays} days: ${error}` };
}

/** How long to wait before the next try: never longer than the longest pause, whatever the clock did. */
export function waitMs({ next_ms: nextMs }: WebhookRecord, nowMs: number): number {
  const longest = Math.max(...limits.webhookPausesMs) * 1.2;
  return Math.min(Math.max(nextMs - nowMs, 0), longest);
}
