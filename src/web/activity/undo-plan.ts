/** Decides how to take changes back: what each file, task and document was before them. Pure. */
import type { ChangeAct, ChangeRecord, FieldValues } from '../../activity/records.ts';

/** What a file was before a session, and its last version of the session. */
export interface FileUndo {
  readonly vaultId: string;
  readonly path: string;
  readonly folded: string;
  /** The first and the last version that the session made of this path. */
  readonly firstSeq: number;
  readonly lastSeq: number;
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
    const known = plans.get(name);
    plans.set(name, {
      vaultId,
      folded,
      path: known !== undefined && known.lastSeq > seq ? known.path : path,
      firstSeq: Math.min(seq, known?.firstSeq ?? seq),
      lastSeq: Math.max(seq, known?.lastSeq ?? seq),
    });
  }
  return [...plans.values()].sort((a, b) => b.lastSeq - a.lastSeq);
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
  /** Number of the last change of the session. */
  readonly lastNumber: number;
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
      // The older change knows what was before both, the later one what came of them.
      before: { ...later?.before, ...before },
      after: { ...after, ...later?.after },
      lastNumber: later?.lastNumber ?? number,
    });
  }
  return [...plans.values()];
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
