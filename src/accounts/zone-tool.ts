/** Defines the tool that sets the time zone of an account. */
import { z } from 'zod';
import { timeZone } from '../fields/kinds.ts';
import { defineTool, SETS, type Tool } from '../gateway/tool.ts';
import type { TimeZones } from './time-zones.ts';

/** Input that sets the zone, shared by MCP and REST. */
export const zoneChange = z.strictObject({
  timezone: timeZone.nullable().describe('IANA name, e.g. Asia/Seoul; null: hub default'),
});

/** `now`: returns the time in milliseconds. */
export function zoneTool(zones: TimeZones, now: () => number): Tool {
  return defineTool({
    name: 'set_timezone',
    title: 'Set the time zone',
    access: 'account',
    description: 'Sets the time zone in which tasks are due today or overdue.',
    input: zoneChange,
    output: z.object({
      timezone: z.string().describe('The current time zone'),
      today: z.string().describe('YYYY-MM-DD in that zone'),
    }),
    annotations: SETS,
    example: { timezone: 'Asia/Seoul' },
    async handle({ timezone }, { accountId }) {
      const zone = await zones.set(accountId, timezone);
      const today = zone.dayOf(now());
      return {
        structured: { timezone: zone.name, today },
        text: `time zone is now ${zone.name}, where it is ${today}`,
      };
    },
  });
}
