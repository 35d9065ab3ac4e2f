/**
 * Defines the table of webhooks. Nothing is queued for a webhook: its position in the events of the account says what was
 * delivered.
 */
import type { ThingKindName } from '../../ids/thing.ts';
import { recordCodec } from '../../store/codec.ts';
import { type AnyTable, defineTable } from '../../store/table.ts';
import type { ToldEvent } from '../event.ts';
import type { EventPosition } from '../position.ts';

/** One try to deliver an event. */
export interface WebhookDelivery {
  /** `webhook-id` of the message: the same for every try. */
  readonly message: string;
  readonly kind: ThingKindName | 'events';
  readonly act: ToldEvent['act'] | 'missed';
  readonly thing: string;
  /** Of a message that tells of missed events: how many. */
  readonly missed?: number;
  readonly at_ms: number;
  /** Status of the answer; null: there was none. */
  readonly status: number | null;
  /** What went wrong, as a sentence; null: it was delivered. */
  readonly error: string | null;
}

export interface WebhookRecord {
  readonly url: string;
  /** Null: all. */
  readonly kinds: readonly ThingKindName[] | null;
  /** Sealed. */
  readonly secret: Uint8Array;
  /** The secret before a rotation signs as well, until then. */
  readonly former: { readonly secret: Uint8Array; readonly until_ms: number } | null;
  readonly created_ms: number;
  /** Why it is turned off; null: it is active. */
  readonly disabled: string | null;
  readonly position: EventPosition;
  /** Tries of the next event that failed. */
  readonly tries: number;
  readonly failing_since_ms: number | null;
  /** Nothing is sent before. */
  readonly next_ms: number;
  /** The newest first. */
  readonly deliveries: readonly WebhookDelivery[];
}

export const webhooks = defineTable<[accountId: string, id: string], WebhookRecord>('webhooks', recordCodec(1), {
  account: 0,
});

export const webhookTables: readonly AnyTable[] = [webhooks];
