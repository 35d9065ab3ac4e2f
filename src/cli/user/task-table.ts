/** Writes tasks as a table for people: by due date, with the names of categories, dates as they are said, colour on a terminal. Pure. */
import { shownLine } from '../../client/shown.ts';
import { aligned, cut } from '../output.ts';

export interface ListedTask {
  readonly id: number;
  readonly content: string;
  readonly due_date: string | null;
  readonly is_important: boolean;
  readonly completed: boolean;
  readonly kanban_status: string;
  readonly category_id: number | null;
}

export interface TableStyle {
  /** Today on this machine, YYYY-MM-DD. */
  readonly today: string;
  /** Width of the terminal; undefined: no line is cut. */
  readonly columns: number | undefined;
  readonly hasColour: boolean;
}

const DAY_MS = 86_400_000;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const STATUS_WORDS: Readonly<Record<string, string>> = { in_progress: 'in progress' };
/** Below this width a task is on a line of its own. */
const CONTENT_CHARS_MIN = 20;

/** A day as people say it: yesterday, today, tomorrow, `Fri 27 Nov`, with the year where it is another one. */
export function dayWords(day: string, today: string): string {
  const atMs = Date.parse(`${day}T00:00:00Z`);
  const days = Math.round((atMs - Date.parse(`${today}T00:00:00Z`)) / DAY_MS);
  const near = new Map([
    [-1, 'yesterday'],
    [0, 'today'],
    [1, 'tomorrow'],
  ]).get(days);
  if (near !== undefined) return near;
  const date = new Date(atMs);
  const year = day.slice(0, 4) === today.slice(0, 4) ? '' : ` ${day.slice(0, 4)}`;
  return `${WEEKDAYS[date.getUTCDay()] ?? ''} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ''}${year}`;
}

/** Says that a list goes on, and how. `next`: how many are before the rest. */
export function moreTasks(tasks: readonly Pick<ListedTask, 'due_date'>[], next: number): string {
  const rest = tasks.at(-1)?.due_date === null ? ' without a date, newer than these' : '';
  return `There are more${rest}: --offset ${next} continues, or narrow with --search, --category or --status.`;
}

/** The lines of the table; those without a date come last. */
export function taskTable(
  tasks: readonly ListedTask[],
  categories: ReadonlyMap<number, string>,
  { today, columns, hasColour }: TableStyle,
): string {
  const colour = (code: number, text: string) => (hasColour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const rows = tasks
    .toSorted((one, other) => (one.due_date ?? '9999').localeCompare(other.due_date ?? '9999') || one.id - other.id)
    .map((task) => {
      const isOverdue = !task.completed && task.due_date !== null && task.due_date < today;
      const due = task.due_date === null ? '' : dayWords(task.due_date, today);
      return {
        cells: [
          `#${task.id}`,
          isOverdue ? `${due}, overdue` : due,
          STATUS_WORDS[task.kanban_status] ?? task.kanban_status,
          shownLine(categories.get(task.category_id ?? -1) ?? ''),
        ],
        text: `${task.is_important ? '! ' : ''}${shownLine(task.content.trim())}`,
        paint: dueColour(task, isOverdue, today),
      };
    });
  const heads = ['ID', 'DUE', 'STATUS', 'CATEGORY'];
  const used = heads.map((_, at) => rows.some(({ cells }) => cells[at] !== ''));
  const [head = [], ...beside] = aligned(
    [heads, ...rows.map(({ cells }) => cells)].map((cells) => cells.filter((_, at) => used[at] === true)),
  );
  const room = columns === undefined ? Infinity : columns - head.join('  ').length - 2;
  const lines = rows.map(({ cells, text, paint }, row) => {
    const shown = room < CONTENT_CHARS_MIN ? `\n    ${text}` : cut(text, room);
    const [, due = ''] = cells;
    const parts = beside[row] ?? [];
    const painted =
      due === '' || paint === undefined ? parts : parts.map((part, at) => (at === 1 ? colour(paint, part) : part));
    return [...painted, shown].join('  ');
  });
  return [colour(2, [...head, 'TASK'].join('  ')), ...lines].join('\n');
}

/** ANSI colours: red overdue, yellow today, grey done. */
function dueColour(task: ListedTask, isOverdue: boolean, today: string): number | undefined {
  if (task.completed) return 2;
  if (isOverdue) return 31;
  return task.due_date === today ? 33 : undefined;
}
