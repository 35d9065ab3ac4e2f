/**
 * Defines the tables of activity: each change of a task or a document, by whom, and what it was before. Changes of files
 * are in the logs of their vaults.
 */

import { emptyRecordCodec, recordCodec } from '../store/codec.ts';
import type { Batch } from '../store/group-commit.ts';
import { type AnyTable, defineHeads, defineTable } from '../store/table.ts';

export const CHANGED_KINDS = ['tasks', 'docs', 'handoffs', 'papers'] as const;

export type ChangedKind = (typeof CHANGED_KINDS)[number];

export const CHANGE_ACTS = ['created', 'changed', 'deleted', 'restored'] as const;

export type ChangeAct = (typeof CHANGE_ACTS)[number];

/** Values of fields by name. */
export type FieldValues = Readonly<Record<string, unknown>>;

export interface ChangeRecord {
  readonly at_ms: number;
  readonly kind: ChangedKind;
  /** Number of the task or document. */
  readonly item: number;
  readonly act: ChangeAct;
  /** What people call it, after the change. */
  readonly name: string;
  /** Who changed it: the name of a key, device, app or browser; null: unknown. */
  readonly by: string | null;
  /** The fields that changed, with their values before and after. A text kept as a version is named by `version`. */
  readonly before: FieldValues;
  readonly after: FieldValues;
}

/** Numbered in order. Numbers may be missing: an item that is permanently deleted takes its changes along. */
export const activityChanges = defineTable<[accountId: string, number: number], ChangeRecord>(
  'activity_changes',
  recordCodec(1),
  { account: 0 },
);

/** The changes of one item. */
export const activityItems = defineTable<
  [accountId: string, kind: ChangedKind, item: number, number: number],
  Record<string, never>
>('activity_items', emptyRecordCodec(1), { account: 0 });

export interface ActivityHead {
  /** The last used number. */
  readonly number: number;
  readonly rows: number;
  /** Characters of all changes as JSON. */
  readonly chars: number;
  /** The newest change that was removed to make room; absent: none since versions that note it. */
  readonly dropped?: number;
}

/** One row per account. */
export const activityHeads = defineHeads<[accountId: string], ActivityHead>('activity_heads', recordCodec(1), {
  account: 0,
});

export const activityTables: readonly AnyTable[] = [activityChanges, activityItems, activityHeads];

/** The characters of a change as JSON, counted without making the text where it needs no escapes. */
export function charsOf({ at_ms, kind, item, act, name, by, before, after }: ChangeRecord): number {
  const numbers = String(at_ms).length + String(item).length;
  const texts = kind.length + act.length + textChars(name) + (by === null ? 'null'.length : textChars(by));
  return AROUND_CHARS + numbers + texts + valuesChars(before) + valuesChars(after);
}

/** What JSON puts around the values of a change. */
const AROUND_CHARS = '{"at_ms":,"kind":"","item":,"act":"","name":,"by":,"before":,"after":}'.length;

const textChars = (text: string): number => (PLAIN.test(text) ? text.length + 2 : JSON.stringify(text).length);

/** Characters that JSON writes as they are. */
const PLAIN = /^[ !#-[\]-~]*$/;

function valuesChars(values: FieldValues): number {
  for (const _ in values) return JSON.stringify(values).length;
  return '{}'.length;
}

/** Writes a change with its place in the history of its item. The caller writes the head. */
export function putChange(batch: Batch, accountId: string, number: number, change: ChangeRecord): void {
  batch.put(activityChanges, [accountId, number], change);
  batch.put(activityItems, [accountId, change.kind, change.item, number], {});
}

/** Removes a change and its place in the history of its item. The caller writes the head. */
export function removeChange(batch: Batch, accountId: string, number: number, change: ChangeRecord): void {
  batch.remove(activityChanges, [accountId, number]);
  batch.remove(activityItems, [accountId, change.kind, change.item, number]);
}
