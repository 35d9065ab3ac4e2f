/** Writes tasks as a calendar of to-dos (RFC 5545, VTODO), which calendars and reminder programs read. Pure. */
import type { TaskRecord } from '../../tasks/declared.ts';

/** Octets of a line before it is folded (RFC 5545, 3.1). */
const LINE_BYTES_MAX = 75;

const STATUS = {
  backlog: 'NEEDS-ACTION',
  todo: 'NEEDS-ACTION',
  in_progress: 'IN-PROCESS',
  done: 'COMPLETED',
} as const satisfies Record<TaskRecord['kanban_status'], string>;

export interface CalendarTask {
  readonly task: Omit<TaskRecord, 'version' | 'deleted_at'>;
  /** Name of its category. */
  readonly category: string | undefined;
}

export const calendarStart = (version: string): string =>
  lines(['BEGIN:VCALENDAR', 'VERSION:2.0', `PRODID:-//Cairn//Cairn ${version}//EN`, 'CALSCALE:GREGORIAN']);

export const CALENDAR_END = 'END:VCALENDAR\r\n';

/** Returns a to-do. `owner` makes its UID differ from those of other accounts. */
export function calendarTask({ task, category }: CalendarTask, owner: string): string {
  const [title = '', ...more] = task.content.split('\n');
  const note = more.join('\n').trim();
  return lines([
    'BEGIN:VTODO',
    `UID:task-${task.id}-${owner}`,
    `DTSTAMP:${instant(task.updated_at)}`,
    `CREATED:${instant(task.created_at)}`,
    `LAST-MODIFIED:${instant(task.updated_at)}`,
    `SUMMARY:${escaped(title.trim())}`,
    ...(note === '' ? [] : [`DESCRIPTION:${escaped(note)}`]),
    ...(task.due_date === null ? [] : [`DUE;VALUE=DATE:${task.due_date.replaceAll('-', '')}`]),
    `STATUS:${STATUS[task.kanban_status]}`,
    ...(task.completed_at === null ? [] : [`COMPLETED:${instant(task.completed_at)}`]),
    ...(task.is_important ? ['PRIORITY:1'] : []),
    ...(category === undefined ? [] : [`CATEGORIES:${escaped(category)}`]),
    'END:VTODO',
  ]);
}

/** `2026-11-26T18:20:00.123Z` as `20261126T182000Z`. */
const instant = (iso: string): string => iso.replace(/\.\d+/u, '').replaceAll(/[-:]/gu, '');

/** RFC 5545, 3.3.11. A control character would end the line for some readers. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[\\;,]/gu, (character) => `\\${character}`)
    .replaceAll(/\r\n|\r|\n/gu, '\\n')
    .replaceAll(/(?!\t)\p{Cc}/gu, '');

const lines = (all: readonly string[]): string => all.map((line) => `${folded(line)}\r\n`).join('');

/** Folds a line after at most 75 octets, never within a character. */
function folded(line: string): string {
  let out = '';
  let bytes = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES_MAX) {
      out += '\r\n ';
      bytes = 1;
    }
    out += character;
    bytes += size;
  }
  return out;
}
