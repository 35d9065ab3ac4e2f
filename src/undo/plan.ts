/** Decides how to take changes back: what each file, task and document was before them. Pure. */
import type { ChangeAct, ChangeRecord, FieldValues } from '../activity/records.ts';

/** The versions of a file to take back. */
export interface FileUndo {
  readonly vaultId: string;
  readonly path: string;
  readonly folded: string;
  /** Numbers of the versions of this path, in order. */
  readonly seqs: readonly number[];
}

/** A version that a session made. */
export interface MadeVersion {
  readonly vaultId: string;
  readonly path: string;
  readonly folded: string;
  readonly seq: number;
}

/** One undo for each path, those changed last first. */
export function planFiles(versions: readonly MadeVersion[]): FileUndo[] {
  const plans = new Map<string, FileUndo>();
  for (const { vaultId, path, folded, seq } of versions) {
    const name = `${vaultId} ${folded}`;
    const seqs = plans.get(name)?.seqs ?? [];
    const isLast = seq > (seqs.at(-1) ?? 0);
    plans.set(name, {
      vaultId,
      folded,
      path: isLast ? path : (plans.get(name)?.path ?? path),
      seqs: [...seqs, seq].sort((a, b) => a - b),
    });
  }
  const lastOf = ({ seqs }: FileUndo) => seqs.at(-1) ?? 0;
  return [...plans.values()].sort((a, b) => lastOf(b) - lastOf(a));
}

/** The first of the last versions between which nobody else made one: a file goes back to what somebody else made of it. */
export function firstOfLastRun(seqs: readonly number[], previousOf: (seq: number) => number | undefined): number {
  const own = new Set(seqs);
  let first = seqs.at(-1) ?? 0;
  for (let previous = previousOf(first); previous !== undefined && own.has(previous); previous = previousOf(first))
    first = previous;
  return first;
}

/** What a task or document was before a session. */
export interface RecordUndo {
  readonly kind: ChangeRecord['kind'];
  readonly item: number;
  readonly name: string;
  /** The session created it: it goes to the trash. */
  readonly isNew: boolean;
  /** True: it was in the trash before; false: it was not; undefined: the session did neither. */
  readonly wasDeleted: boolean | undefined;
  /** The fields that changed: their values before the session, and after it. */
  readonly before: FieldValues;
  readonly after: FieldValues;
  /** Numbers of the changes, in order. */
  readonly numbers: readonly number[];
}

export interface MadeChange extends Pick<ChangeRecord, 'kind' | 'item' | 'name' | 'act' | 'before' | 'after'> {
  readonly number: number;
}

/** One undo for each task and document. `changes`: newest first. */
export function planRecords(changes: readonly MadeChange[]): RecordUndo[] {
  const plans = new Map<string, RecordUndo>();
  for (const { kind, item, name, act, before, after, number } of changes) {
    const key = `${kind} ${item}`;
    const later = plans.get(key);
    plans.set(key, {
      kind,
      item,
      name: later?.name ?? name,
      isNew: act === 'created',
      wasDeleted: wasDeletedBefore(act) ?? later?.wasDeleted,
      before: beforeBoth({ before, after }, later?.before),
      after: { ...after, ...later?.after },
      numbers: [number, ...(later?.numbers ?? [])],
    });
  }
  return [...plans.values()];
}

/** What was before two changes; of a field that somebody else changed in between, what that one made of it. */
function beforeBoth(earlier: Pick<MadeChange, 'before' | 'after'>, later: FieldValues = {}): FieldValues {
  const isOwn = ([name, was]: readonly [string, unknown]) =>
    Object.hasOwn(earlier.after, name) && same(was, earlier.after[name]);
  return { ...earlier.before, ...Object.fromEntries(Object.entries(later).filter((one) => !isOwn(one))) };
}

function wasDeletedBefore(act: ChangeAct): boolean | undefined {
  return act === 'deleted' ? false : act === 'restored' ? true : undefined;
}

/** What an undo writes to a record that may have changed since. */
export interface FieldUndo {
  readonly write: FieldValues;
  /** Fields that have changed since to something else. */
  readonly kept: readonly string[];
}

/** Takes a field back unless it has changed since. `merge`: tries to take back a text that has. */
export function planFields(
  { before, after }: Pick<RecordUndo, 'before' | 'after'>,
  current: FieldValues,
  merge: (texts: { readonly base: string; readonly ours: string; readonly theirs: string }) => string | undefined,
): FieldUndo {
  const write: Record<string, unknown> = {};
  const kept: string[] = [];
  for (const [name, was] of Object.entries(before)) {
    const [is, came] = [current[name] ?? null, after[name] ?? null];
    if (same(is, was)) continue;
    if (same(is, came)) {
      write[name] = was;
      continue;
    }
    const merged =
      typeof came === 'string' && typeof is === 'string' && typeof was === 'string' && name === 'content'
        ? merge({ base: came, ours: is, theirs: was })
        : undefined;
    if (merged === undefined) kept.push(name);
    else write[name] = merged;
  }
  return { write, kept };
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
