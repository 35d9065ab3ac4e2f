/** Renders the fields of a task or document that a change set, with their values before and after. */
import type { VNode } from 'preact';
import type { FieldValues } from '../../activity/records.ts';
import { dateText } from '../zone-format.ts';

const NAMES: Readonly<Record<string, string>> = {
  content: 'Text',
  due_date: 'Due',
  is_important: 'Important',
  kanban_status: 'Column',
  category_id: 'Category',
  title: 'Title',
  content_type: 'Type',
  published: 'Published',
  version: 'Text',
};

const STATUS_NAMES: Readonly<Record<string, string>> = {
  backlog: 'Backlog',
  todo: 'To do',
  in_progress: 'In progress',
  done: 'Done',
};

const SHOWN_CHARS = 80;

export interface FieldChangesProps {
  readonly before: FieldValues;
  readonly after: FieldValues;
  /** Name of a category; undefined: it is deleted. */
  readonly categoryName: (id: number) => string | undefined;
}

/** One line: `Column: To do → Done, Due: none → 4 Dec`. Nothing when no field changed. */
export function FieldChanges({ before, after, categoryName }: FieldChangesProps): VNode | null {
  const names = Object.keys(after);
  if (names.length === 0) return null;
  const year = new Date().toISOString();
  const text = (name: string, value: unknown) => {
    if (value === null || value === undefined || value === '') return 'none';
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (name === 'category_id') return categoryName(Number(value)) ?? 'a deleted category';
    const given = typeof value === 'string' ? value : JSON.stringify(value);
    if (name === 'due_date') return dateText(given, year);
    if (name === 'kanban_status') return STATUS_NAMES[given] ?? given;
    const chars = Array.from(given.replaceAll(/\s+/g, ' '));
    return chars.length > SHOWN_CHARS ? `${chars.slice(0, SHOWN_CHARS).join('')}…` : given.replaceAll(/\s+/g, ' ');
  };
  return (
    <span class="field-changes">
      {names.map((name) => (
        <span key={name} class="field-change">
          {NAMES[name] ?? name.replaceAll('_', ' ')}
          {name === 'version' ? ' changed' : null}
          {name === 'version' ? null : (
            <>
              {': '}
              <del>
                <bdi>{text(name, before[name])}</bdi>
              </del>{' '}
              <span aria-hidden="true">→</span>{' '}
              <ins>
                <bdi>{text(name, after[name])}</bdi>
              </ins>
            </>
          )}
        </span>
      ))}
    </span>
  );
}
