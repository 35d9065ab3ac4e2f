/**
 * Reads projects of Todoist: the CSV file of a project, as its menu exports it and its backups contain it. Pure.
 * Columns: TYPE (task, section, note, meta), CONTENT, DESCRIPTION, PRIORITY (1 is the highest), INDENT, DATE.
 */
import { parse } from 'csv-parse/sync';
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import type { Imported, ImportedTask, ImportNotice } from './imported.ts';

type Row = Readonly<Partial<Record<'TYPE' | 'CONTENT' | 'DESCRIPTION' | 'PRIORITY' | 'INDENT' | 'DATE', string>>>;

/** Reads a date as people type it; undefined: it is none. */
export type ReadDate = (text: string) => string | undefined;

interface Draft {
  readonly lines: string[];
  readonly dueDate: string | null;
  readonly isImportant: boolean;
}

/**
 * Returns the tasks of one project. `project` names their category. A subtask names its parents, because Cairn's tasks
 * have no subtasks; a description and comments become further lines. Throws ClientError when the text is not such a file.
 */
export function readTodoist(text: string, project: string, readDate: ReadDate): Imported<ImportedTask> {
  const notices: ImportNotice[] = [];
  const drafts: Draft[] = [];
  /** Titles of the tasks that enclose the current one, by indent. */
  let parents: string[] = [];
  for (const row of rowsOf(text, project)) {
    const content = (row.CONTENT ?? '').trim();
    const last = drafts.at(-1);
    if (row.TYPE === 'note') last?.lines.push(content);
    if (row.TYPE !== 'task' || content === '') continue;
    const indent = Math.max(1, Number(row.INDENT ?? '1') || 1);
    parents = [...parents.slice(0, indent - 1), content];
    const date = (row.DATE ?? '').trim();
    const dueDate = date === '' ? null : (dayOf(date) ?? readDate(date) ?? null);
    if (date !== '' && dueDate === null) notices.push(`${content}: the date “${date}” is kept as text`);
    drafts.push({
      lines: [
        parents.join(' › '),
        ...(row.DESCRIPTION ? [row.DESCRIPTION.trim()] : []),
        ...(date !== '' && dueDate === null ? [`Date: ${date}`] : []),
      ],
      dueDate,
      isImportant: row.PRIORITY === '1',
    });
  }
  const items = drafts.map(({ lines, dueDate, isImportant }) => {
    const content = lines.filter((line) => line !== '').join('\n');
    const kept = content.slice(0, limits.taskContentCharsMax).toWellFormed();
    if (kept !== content)
      notices.push(`${lines[0] ?? ''}: the text was cut after ${limits.taskContentCharsMax} characters`);
    return { content: kept, dueDate, isImportant, category: project };
  });
  return { items, notices };
}

/** The calendar day at the beginning of a date as Todoist writes it: `2026-12-01`, `2026-12-01 15:00`. */
function dayOf(date: string): string | undefined {
  return /^\d{4}-\d{2}-\d{2}(?=$|[T ])/.exec(date)?.[0];
}

function rowsOf(text: string, project: string): readonly Row[] {
  let rows: readonly Row[];
  try {
    rows = parse(text, { bom: true, columns: true, relax_column_count: true, skip_empty_lines: true });
  } catch (error) {
    throw new ClientError(`${project} is not a CSV file: ${(error as Error).message}`);
  }
  if (rows.length > 0 && rows[0]?.TYPE === undefined) {
    throw new ClientError(`${project} is not a project of Todoist: its first line has no column TYPE.`);
  }
  return rows;
}
