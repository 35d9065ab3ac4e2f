/** Merges the saved form of a task with a change that came first: field by field, the text line by line. Pure. */
import type { TaskRecord } from '../../tasks/declared.ts';
import { mergeTexts } from '../../text/merge.ts';

/** The fields that a form of a task changes, as documents have them. */
export type OpenedFields = Readonly<Record<string, unknown>>;

/** The fields of a task that a form was opened with, in the order of their names. */
export function openedFields(task: TaskRecord, names: readonly string[]): OpenedFields {
  return Object.fromEntries(names.map((name) => [name, (task as unknown as OpenedFields)[name] ?? null]));
}

/** Reads the fields that a form was opened with; undefined: the form does not say. */
export function readOpened(text: string | null): OpenedFields | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as OpenedFields) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Merges what a person changed since the form was opened into the current task. Undefined when both changed the same field
 * differently, or the same lines of the text.
 */
export function mergeTask(opened: OpenedFields, mine: OpenedFields, current: OpenedFields): OpenedFields | undefined {
  const merged: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(mine)) {
    const [base, theirs] = [opened[name] ?? null, current[name] ?? null];
    if (isSame(value ?? null, base)) merged[name] = theirs;
    else if (isSame(theirs, base) || isSame(theirs, value ?? null)) merged[name] = value;
    else {
      const text = name === 'content' ? mergedText(base, value, theirs) : undefined;
      if (text === undefined) return undefined;
      merged[name] = text;
    }
  }
  return merged;
}

function mergedText(base: unknown, ours: unknown, theirs: unknown): string | undefined {
  if (typeof base !== 'string' || typeof ours !== 'string' || typeof theirs !== 'string') return undefined;
  const labels = { base: '', ours: '', theirs: '' };
  const { content, conflicts } = mergeTexts({ base, ours, theirs }, { favor: 'none', style: 'merge', labels });
  return conflicts === 0 ? content : undefined;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
