/** Declares the REST operation that tells what changed in an account. */
import { z } from 'zod';
import { operation } from '../http/route/operation.ts';
import type { Authenticator, Route } from '../http/route/route.ts';
import { THING_KINDS, type ThingKindName } from '../ids/thing.ts';
import { limits } from '../limits/service.ts';
import type { AccountEvents } from './account-events.ts';
import { EVENT_EXAMPLE, eventSchema } from './event.ts';

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
}: {
  readonly events: AccountEvents;
  readonly access: Authenticator;
}): Route[] {
  return [
    operation({
      method: 'GET',
      path: '/api/events',
      operationId: 'listEvents',
      tag: 'events',
      summary: 'Lists what changed since a cursor, and waits for the next change',
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
      async handle({ query: { after, kinds, limit, wait }, request }, { accountId }) {
        const from = events.positionOf(accountId, after);
        const wanted = kinds === undefined ? undefined : kindsOf(kinds);
        const page = await events.pageOrWait(accountId, from, { limit, kinds: wanted, ms: wait * 1000 }, (notify) =>
          request.linger(wait, notify),
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
