/** Declares the REST operation that tells what changed in an account. */
import { z } from 'zod';
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { THING_KINDS, type ThingKindName } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import type { Zone } from '../time/zone.ts';
import type { AccountEvents } from './account-events.ts';
import { EVENT_EXAMPLE, eventSchema } from './event.ts';
import { MOMENT_ABOUT, momentField, momentOf } from './moments.ts';

const ANY_KIND = THING_KINDS.join('|');

/** The kinds of a list with commas. */
function kindsOf(text: string): ThingKindName[] {
  return THING_KINDS.filter((kind) => text.split(',').includes(kind));
}

const query = z.strictObject({
  after: z
    .string()
    .max(limits.eventCursorCharsMax)
    .optional()
    .describe('cursor of an earlier answer; now: only what happens from now on; missing: the oldest kept'),
  since: momentField.describe(`From when on: ${MOMENT_ABOUT}`),
  until: momentField.describe('Up to when; a day: to its end'),
  by: z
    .string()
    .min(1)
    .max(limits.changedByCharsMax)
    .optional()
    .describe('Only what this key, device, app or browser did'),
  kinds: z
    .string()
    .regex(
      new RegExp(`^(${ANY_KIND})(,(${ANY_KIND}))*$`),
      `must be one or more of ${THING_KINDS.join(', ')}, with commas`,
    )
    .optional()
    .describe(`Only these, with commas: ${THING_KINDS.join(', ')}`),
  limit: z.coerce.number().int().min(1).max(limits.eventPageMax).default(limits.eventPageDefault).describe('Events'),
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(limits.waitSecondsMax)
    .default(0)
    .describe('Seconds to wait for the first event'),
});

const answer = z.object({
  events: z.array(eventSchema).describe('Oldest first'),
  cursor: z.string().describe('Send it as after'),
  has_more: z.boolean().describe('True: ask again at once'),
});

export function eventRoutes({
  events,
  access,
  zones,
  now,
}: {
  readonly events: AccountEvents;
  readonly access: Authenticator;
  readonly zones: { of(accountId: string): Zone };
  readonly now: () => number;
}): Route[] {
  return [
    operation({
      method: 'GET',
      path: '/api/events',
      operationId: 'listEvents',
      tag: 'events',
      summary: 'Lists what changed since a cursor or a time, and waits for the next change',
      access,
      query,
      refusals: [410],
      answer: {
        description: 'Events, oldest first',
        schema: answer.meta({ title: 'Events' }),
        example: {
          events: [EVENT_EXAMPLE],
          cursor: 'e1.WyI0ZjEiLDQyLDAse31d.5d41402abc4b2a76b9719d91',
          has_more: false,
        },
      },
      async handle({ query: { after, kinds, since, until, by, limit, wait }, request }, { accountId }) {
        const asked = { nowMs: now(), zone: zones.of(accountId) };
        const [sinceMs, untilMs] = [momentOf('since', since, asked), momentOf('until', until, asked)];
        const from =
          after === undefined && sinceMs !== undefined
            ? events.positionAt(accountId, sinceMs)
            : events.positionOf(accountId, after);
        const wanted = kinds === undefined ? undefined : kindsOf(kinds);
        // What ends at a time is waited for no longer than until then.
        const ms = Math.min(wait * 1000, Math.max(0, (untilMs ?? Number.POSITIVE_INFINITY) - asked.nowMs));
        const page = await events.pageOrWait(
          accountId,
          from,
          { limit, kinds: wanted, by, sinceMs, untilMs, ms },
          (notify) => request.linger(wait, notify),
        );
        return {
          events: [...page.events],
          cursor: events.cursorOf(accountId, page.position),
          has_more: page.hasMore,
        };
      },
    }),
  ];
}
