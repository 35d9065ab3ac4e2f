/** What is posted to a webhook: an event, or that events were missed. Pure. */
import type { ThingKindName } from '../../ids/thing.ts';
import type { AccountEvents } from '../account-events.ts';
import type { ToldEvent } from '../event.ts';
import type { WebhookDelivery } from './records.ts';
import type { Webhook } from './service.ts';

export interface PostedMessage {
  readonly delivery: Omit<WebhookDelivery, 'at_ms' | 'status' | 'error'>;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly data: object;
}

/** Events of a webhook that are no longer kept. */
export type Missed = NonNullable<ReturnType<AccountEvents['missedAfter']>>;

/** Kinds whose changes are kept for a number of changes only (ACT-1). */
export const FORGOTTEN_KINDS: ReadonlySet<ThingKindName> = new Set(['task', 'doc', 'handoff', 'paper']);

export function messageOf({ id }: Pick<Webhook, 'id'>, event: ToldEvent): PostedMessage {
  const { kind, act, thing, at } = event;
  return { delivery: { message: `${id}.${event.id}`, kind, act, thing }, at, data: event };
}

/** `cursor`: of the position after what was missed. The id is the same for each try: it is made of the position before. */
export function missedMessage(
  { id, position }: Pick<Webhook, 'id' | 'position'>,
  { count, cursor, at }: { readonly count: number; readonly cursor: string; readonly at: string },
): PostedMessage {
  const event = `m.${position.records}`;
  const thing = `/api/events?after=${cursor}`;
  return {
    delivery: { message: `${id}.${event}`, kind: 'events', act: 'missed', thing, missed: count },
    at,
    data: {
      id: event,
      kind: 'events',
      act: 'missed',
      at,
      details: {
        changes: count,
        cursor,
        next: `${count} changes of tasks and documents are no longer kept. Read the current state with lists or search; the events after them follow, and ${thing} reads them again.`,
      },
    },
  };
}
