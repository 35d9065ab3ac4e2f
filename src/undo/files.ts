/** Takes back changes of files: each path becomes what it was, unless somebody has changed the same lines since. */
import { limits } from '../limits/service.ts';
import type { FileRecord } from '../sync/log/file-record.ts';
import type { Sync } from '../sync/service.ts';
import { textContentOf } from '../text/text-content.ts';
import { keptIfRefused, type LeftAlone, type UndoOutcome } from './outcome.ts';
import { type FileUndo, firstOfLastRun } from './plan.ts';

export type FileSources = Pick<Sync, 'reader' | 'history' | 'comparer' | 'push'>;

/** What an undo does to a file whose hash is `baseSha`. */
export type FileStep =
  | { readonly kind: 'same' }
  | LeftAlone
  | FileChange<'remove', object>
  | FileChange<'restore', { readonly seq: number; readonly wasGone: boolean }>
  | FileChange<'merge', { readonly content: string }>;

type FileChange<K extends string, T> = T & {
  readonly kind: K;
  readonly vaultId: string;
  readonly path: string;
  readonly baseSha: string;
};

/** Decides what becomes of a file. Writes nothing. */
export async function decideFile(sync: FileSources, accountId: string, plan: FileUndo): Promise<FileStep> {
  const { vaultId, folded, seqs } = plan;
  const { reader } = sync;
  const lost: LeftAlone = { kind: 'kept', why: 'its earlier version is no longer kept' };
  const file = reader.file(vaultId, folded);
  const previousOf = (seq: number) => reader.versionHead(vaultId, seq)?.previousSeq;
  const lastSeq = seqs.at(-1) ?? 0;
  const first = reader.versionHead(vaultId, firstOfLastRun(seqs, previousOf));
  if (file === undefined || first === undefined) return lost;
  const before = first.previousSeq === 0 ? undefined : reader.versionMeta(vaultId, first.previousSeq);
  if (first.previousSeq !== 0 && before === undefined) return lost;
  const wasThere = before !== undefined && before.type === 'file';
  if (file.seq !== lastSeq) {
    const isAsBefore = wasThere ? !file.deleted && file.sha256 === before.sha256 : file.deleted;
    if (isAsBefore) return { kind: 'same' };
    return wasThere && !file.deleted
      ? await mergedBack(sync, accountId, { file, vaultId, baseSeq: lastSeq, beforeSeq: before.seq })
      : changedSince(file);
  }
  const named = { vaultId, path: file.path, baseSha: file.deleted ? '' : file.sha256 };
  if (wasThere) return { kind: 'restore', ...named, seq: before.seq, wasGone: file.deleted };
  return file.deleted ? { kind: 'same' } : { kind: 'remove', ...named };
}

const changedSince = ({ device_id: by }: FileRecord): LeftAlone => ({ kind: 'kept', why: `changed since by ${by}` });

interface ChangedSince {
  readonly file: FileRecord;
  readonly vaultId: string;
  readonly baseSeq: number;
  readonly beforeSeq: number;
}

/** Takes the lines back that were changed, and leaves those that somebody changed since. */
async function mergedBack(
  { reader, comparer }: FileSources,
  accountId: string,
  { file, vaultId, baseSeq, beforeSeq }: ChangedSince,
): Promise<FileStep> {
  const textOf = (seq: number) => {
    const head = reader.versionHead(vaultId, seq);
    const bytes =
      head === undefined || head.sizeBytes > limits.mergeBytesMax ? undefined : reader.content(vaultId, seq);
    return bytes && textContentOf(bytes);
  };
  const [base, ours, theirs] = [textOf(baseSeq), textOf(file.seq), textOf(beforeSeq)];
  if (base === undefined || ours === undefined || theirs === undefined) return changedSince(file);
  const labels = { base: '', ours: '', theirs: '' };
  const options = { favor: 'none', style: 'merge', labels } as const;
  const merged = await comparer.merge({ texts: { base, ours, theirs }, options }, accountId);
  if (merged === undefined || merged.conflicts > 0) return changedSince(file);
  if (merged.content === ours) return { kind: 'same' };
  return { kind: 'merge', vaultId, path: file.path, baseSha: file.sha256, content: merged.content };
}

/** Does a step; a file that changed since it was decided is left. `by`: the device that is named. */
export async function undoFile(
  { history, push }: FileSources,
  accountId: string,
  step: FileStep,
  { by, isDry }: { readonly by: string; readonly isDry: boolean },
): Promise<UndoOutcome> {
  return await keptIfRefused(async (): Promise<UndoOutcome> => {
    switch (step.kind) {
      case 'same':
      case 'kept':
        return step;
      case 'remove':
        if (!isDry) await history.remove(accountId, { ...step, deviceId: by });
        return { kind: 'removed' };
      case 'restore': {
        const done: UndoOutcome = { kind: step.wasGone ? 'back' : 'changed' };
        if (isDry) return done;
        const { status } = await history.restore(accountId, { ...step, deviceId: by, respells: true });
        return status === 'restored' ? done : { kind: 'same' };
      }
      case 'merge': {
        const { vaultId, path, baseSha, content } = step;
        const args = { vault_id: vaultId, path, base_sha: baseSha, device_id: by, mustHash: false };
        if (!isDry) await push.push(accountId, { ...args, content, encoding: 'utf-8' }, 'page');
        return { kind: 'changed' };
      }
    }
  });
}
