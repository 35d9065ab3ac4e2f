/** Records a change in the decision that makes it, in the same commit. Each account has room for a bounded number. */
import { isDeepStrictEqual } from 'node:util';
import { memo } from '../common/memo.ts';
import { limits } from '../limits/service.ts';
import { type Batch, DecisionMemo } from '../store/group-commit.ts';
import {
  type ActivityHead,
  activityChanges,
  activityHeads,
  activityItems,
  type ChangeAct,
  type ChangedKind,
  type ChangeRecord,
  charsOf,
  type FieldValues,
  putChange,
  removeChange,
} from './records.ts';

/** What changed, and by whom. */
interface NotedChange extends Omit<ChangeRecord, 'at_ms' | 'by' | 'name'> {
  readonly name: string;
  readonly by: string | undefined;
  readonly atMs: number;
}

/** What a running decision has done so far: a decision does not read its own writes. */
interface Noted {
  number: number;
  rows: number;
  chars: number;
  dropped: number | undefined;
  /** Numbers of the changes that it removed; undefined: none. */
  removed: Set<number> | undefined;
}

const NO_CHANGES: ActivityHead = { number: 0, rows: 0, chars: 0 };

const notedIn = new DecisionMemo<Noted>();

/** Records a change, and removes the oldest ones beyond `activityRowsMax` and `activityCharsMax`. */
export function noteChange(batch: Batch, accountId: string, change: NotedChange): void {
  const noted = notedOf(batch, accountId);
  const { kind, item, act, before, after, atMs, by, name } = change;
  const record: ChangeRecord = { at_ms: atMs, kind, item, act, before, after, name: shortName(name), by: by ?? null };
  noted.number += 1;
  noted.rows += 1;
  noted.chars += charsOf(record);
  putChange(batch, accountId, noted.number, record);
  dropOldest(batch, accountId, noted);
  batch.put(activityHeads, [accountId], headOf(noted));
}

/** Removes the changes of an item that is permanently deleted. */
export function forgetChanges(batch: Batch, accountId: string, kind: ChangedKind, item: number): void {
  const rows = batch.range(activityItems, { prefix: [accountId, kind, item] });
  if (rows.length === 0) return;
  const noted = notedOf(batch, accountId);
  for (const { key } of rows) {
    const change = batch.get(activityChanges, [accountId, key[3]]);
    if (change !== undefined) drop(batch, accountId, noted, key[3], change);
  }
  batch.put(activityHeads, [accountId], headOf(noted));
}

/** Returns what happened to a record, from when it was deleted before and after. Undefined before: it is new. */
export function actOf(
  before: { readonly deleted_at?: string | null } | undefined,
  after: { readonly deleted_at?: string | null },
): ChangeAct {
  if (before === undefined) return 'created';
  const [wasDeleted, isDeleted] = [before.deleted_at ?? null, after.deleted_at ?? null].map((at) => at !== null);
  if (wasDeleted === isDeleted) return 'changed';
  return isDeleted ? 'deleted' : 'restored';
}

/** Returns the fields with another value after a change, with both values. */
export function changedFields(
  names: readonly string[],
  before: object | undefined,
  after: object,
): { readonly before: FieldValues; readonly after: FieldValues } {
  if (before === undefined) return { before: {}, after: {} };
  const [was, is] = [before as FieldValues, after as FieldValues];
  const changed = names.filter((name) => !isDeepStrictEqual(was[name], is[name]));
  const valuesOf = (of: FieldValues) => Object.fromEntries(changed.map((name) => [name, of[name] ?? null]));
  return { before: valuesOf(was), after: valuesOf(is) };
}

function notedOf(batch: Batch, accountId: string): Noted {
  const read = (): Noted => {
    const { number, rows, chars, dropped } = batch.get(activityHeads, [accountId]) ?? NO_CHANGES;
    return { number, rows, chars, dropped, removed: undefined };
  };
  return memo<string, Noted>(notedIn.of(batch), accountId, read);
}

function headOf({ number, rows, chars, dropped }: Noted): ActivityHead {
  return dropped === undefined ? { number, rows, chars } : { number, rows, chars, dropped };
}

/** As many as are too many; of those too long, a few at a time, which is more than come in. */
function dropOldest(batch: Batch, accountId: string, noted: Noted): void {
  if (!isOver(noted)) return;
  // One too many is the usual case, and mostly the one after the last that was removed: found without a walk.
  const next = (noted.dropped ?? 0) + 1;
  const isNext = noted.chars <= limits.activityCharsMax && noted.removed?.has(next) !== true;
  const change = isNext ? batch.get(activityChanges, [accountId, next]) : undefined;
  if (change !== undefined) {
    drop(batch, accountId, noted, next, change);
    noted.dropped = next;
    if (!isOver(noted)) return;
  }
  const tooMany = (noted.removed?.size ?? 0) + noted.rows - limits.activityRowsMax;
  const limit = noted.chars > limits.activityCharsMax ? Math.max(tooMany, limits.activityDropMax) : tooMany;
  const oldest = batch.range(activityChanges, { prefix: [accountId], limit });
  for (const { key, value } of oldest) {
    if (!isOver(noted)) break;
    drop(batch, accountId, noted, key[1], value);
    noted.dropped = key[1];
  }
}

function isOver({ rows, chars }: Noted): boolean {
  return rows > limits.activityRowsMax || chars > limits.activityCharsMax;
}

function drop(batch: Batch, accountId: string, noted: Noted, number: number, change: ChangeRecord): void {
  if (noted.removed?.has(number) === true) return;
  noted.removed ??= new Set();
  noted.removed.add(number);
  removeChange(batch, accountId, number, change);
  noted.rows -= 1;
  noted.chars -= charsOf(change);
}

/** The first line, cut between characters. */
function shortName(name: string): string {
  if (name.length <= limits.activityNameCharsMax && !name.includes('\n')) return name;
  return Array.from(name.split('\n', 1)[0] ?? '')
    .slice(0, limits.activityNameCharsMax)
    .join('');
}
