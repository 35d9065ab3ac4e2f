/** Declares the arguments of the list tool, and converts them to a search. */

import { z } from 'zod';
import { refuseFields } from '../../common/fault.ts';
import { day, timeZone } from '../../fields/kinds.ts';
import { limits } from '../../limits/service.ts';
import { DAY_MS } from '../../time/calendar.ts';
import { openZone, type Zone } from '../../time/zone.ts';
import { KANBAN_STATUSES } from '../declared.ts';
import { daySpan, defined, listFields, readOrder, spanErrors } from '../fields.ts';
import type { TaskFilter } from './query.ts';
import type { TaskSearch } from './search.ts';

const someDay = day.optional();

export const listArguments = z.strictObject({
  due_today: z.boolean().optional(),
  overdue: z.boolean().optional().describe('Open tasks due before today'),
  status: z.enum(KANBAN_STATUSES).optional(),
  ...listFields,
  search: z.string().min(1).max(limits.taskSearchCharsMax).optional().describe('Text in the content, in any case'),
  due_from: someDay,
  due_to: someDay,
  created_from: someDay,
  created_to: someDay,
  completed_from: someDay,
  completed_to: someDay,
  limit: z.int().min(1).max(limits.taskListMax).optional().describe(`Default ${limits.taskListDefault}`),
  timezone: timeZone.optional().describe('Default: see set_timezone'),
});

type ListArguments = z.output<typeof listArguments>;

/**
 * Returns the search for the arguments, as of `nowMs`, in `ownZone` unless they contain a zone. Throws Refusal listing
 * all spans that end before they begin.
 */
export function listQuery(args: ListArguments, nowMs: number, ownZone: () => Zone): TaskSearch {
  const zone = args.timezone === undefined ? ownZone() : openZone(args.timezone);
  refuseFields({
    ...spanErrors('due', args.due_from, args.due_to),
    ...spanErrors('created', args.created_from, args.created_to),
    ...spanErrors('completed', args.completed_from, args.completed_to),
  });
  const today = zone.dayOf(nowMs);
  const { overdue = false } = args;
  const from = latest(args.due_from, args.due_today === true ? today : undefined);
  const to = earliest(args.due_to, args.due_today === true ? today : undefined, overdue ? dayBefore(today) : undefined);
  const filter: TaskFilter = defined({
    categoryId: args.category_id,
    completed: args.completed ?? (overdue ? false : undefined),
    isImportant: args.is_important,
    kanbanStatus: args.status,
    due: daySpan(from, to),
  });
  const contradicts = overdue && args.completed === true;
  return {
    // A completed task is never overdue: no bucket is both done and open, so nothing matches.
    filter: contradicts ? { ...filter, kanbanStatus: 'todo' } : filter,
    order: readOrder(args.sort_by, args.sort_order),
    limit: args.limit ?? limits.taskListDefault,
    text: args.search,
    createdOn: rangeOf(args.created_from, args.created_to),
    completedOn: rangeOf(args.completed_from, args.completed_to),
    zone,
  };
}

function rangeOf(from: string | undefined, to: string | undefined): TaskSearch['createdOn'] {
  return from === undefined && to === undefined ? undefined : { from, to };
}

function latest(...dates: readonly (string | undefined)[]): string | undefined {
  return dates
    .filter((date) => date !== undefined)
    .sort()
    .at(-1);
}

function earliest(...dates: readonly (string | undefined)[]): string | undefined {
  return dates
    .filter((date) => date !== undefined)
    .sort()
    .at(0);
}

function dayBefore(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) - DAY_MS).toISOString().slice(0, 10);
}
