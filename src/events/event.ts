/** The form of an event: one change of something that an account keeps. Every door that tells of changes uses it. */
import { z } from 'zod';
import { THING_KINDS } from '../ids/thing.ts';
import { foldCase } from '../text/fold-case.ts';

const EVENT_ACTS = ['created', 'changed', 'moved', 'deleted', 'restored'] as const;

export const eventSchema = z.object({
  id: z.string().describe('The same whenever this event is sent again'),
  kind: z.enum(THING_KINDS),
  act: z.enum(EVENT_ACTS),
  thing: z.string().describe('Id of what changed; fetch reads it'),
  name: z.string(),
  at: z.iso.datetime(),
  by: z.string().nullable().describe('Key, device, app or browser; null: unknown'),
  details: z
    .record(z.string(), z.unknown())
    .describe('fields that changed; of a file its vault, path and hash; of a backup its commit and repository'),
});

/** Which changes are wanted. Undefined: all. */
export interface WantedChanges {
  /** Name of who did it, in any case. */
  readonly by?: string | undefined;
  /** The first and the last moment, in milliseconds. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

export function isChangeWanted(
  { by, sinceMs = 0, untilMs = Infinity }: WantedChanges,
  atMs: number,
  who: string | null,
): boolean {
  if (by !== undefined && (who === null || foldCase(who) !== foldCase(by))) return false;
  return atMs >= sinceMs && atMs <= untilMs;
}

export type ToldEvent = z.output<typeof eventSchema>;

export const EVENT_EXAMPLE: ToldEvent = {
  id: 'r.42',
  kind: 'task',
  act: 'changed',
  thing: 'cairn://tasks/7',
  name: 'Renew the certificate',
  at: '2026-11-25T20:18:57.123Z',
  by: 'laptop',
  details: { fields: ['status'] },
};
