/** Takes back changes of files: each path becomes what it was, unless somebody has changed the same lines since. */
import { explain, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import type { Sync } from '../../sync/service.ts';
import { textContentOf } from '../../text/text-content.ts';
import type { FileUndo } from './undo-plan.ts';

export type UndoOutcome =
  | { readonly kind: 'done' | 'same' }
  /** Left alone; `why` continues a sentence. */
  | { readonly kind: 'kept'; readonly why: string };

export async function undoFile(sync: Sync, accountId: string, plan: FileUndo, by: string): Promise<UndoOutcome> {
  try {
    return await takeBack(sync, accountId, plan, by);
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'kept', why: explain(error.fault) };
    throw error;
  }
}

async function takeBack(sync: Sync, accountId: string, plan: FileUndo, by: string): Promise<UndoOutcome> {
  const { vaultId, folded, firstSeq, lastSeq } = plan;
  const { reader, history } = sync;
  const file = reader.file(vaultId, folded);
  const first = reader.versionHead(vaultId, firstSeq);
  if (file === undefined || first === undefined) return { kind: 'kept', why: 'its earlier version is no longer kept' };
  const before = first.previousSeq === 0 ? undefined : reader.versionMeta(vaultId, first.previousSeq);
  if (first.previousSeq !== 0 && before === undefined) {
    return { kind: 'kept', why: 'its earlier version is no longer kept' };
  }
  const wasThere = before !== undefined && before.type === 'file';
  if (file.seq !== lastSeq) {
    const isAsBefore = wasThere ? !file.deleted && file.sha256 === before.sha256 : file.deleted;
    if (isAsBefore) return { kind: 'same' };
    return wasThere && !file.deleted
      ? await mergeBack(sync, accountId, plan, { file, beforeSeq: before.seq, by })
      : { kind: 'kept', why: `changed since by ${file.device_id}` };
  }
  const request = { path: file.path, vaultId, baseSha: file.deleted ? '' : file.sha256, deviceId: by };
  if (!wasThere) {
    if (file.deleted) return { kind: 'same' };
    await history.remove(accountId, request);
    return { kind: 'done' };
  }
  const { status } = await history.restore(accountId, { ...request, seq: before.seq, respells: true });
  return { kind: status === 'restored' ? 'done' : 'same' };
}

interface ChangedSince {
  readonly file: FileRecord;
  readonly beforeSeq: number;
  readonly by: string;
}

/** Takes the lines back that the session changed, and leaves those that somebody changed since. */
async function mergeBack(
  { reader, comparer, push }: Sync,
  accountId: string,
  { vaultId, lastSeq }: FileUndo,
  { file, beforeSeq, by }: ChangedSince,
): Promise<UndoOutcome> {
  const kept: UndoOutcome = { kind: 'kept', why: `changed since by ${file.device_id}` };
  const textOf = (seq: number) => {
    const head = reader.versionHead(vaultId, seq);
    const bytes =
      head === undefined || head.sizeBytes > limits.mergeBytesMax ? undefined : reader.content(vaultId, seq);
    return bytes && textContentOf(bytes);
  };
  const [base, ours, theirs] = [textOf(lastSeq), textOf(file.seq), textOf(beforeSeq)];
  if (base === undefined || ours === undefined || theirs === undefined) return kept;
  const labels = { base: '', ours: '', theirs: '' };
  const options = { favor: 'none', style: 'merge', labels } as const;
  const merged = await comparer.merge({ texts: { base, ours, theirs }, options }, accountId);
  if (merged === undefined || merged.conflicts > 0) return kept;
  if (merged.content === ours) return { kind: 'same' };
  const args = { vault_id: vaultId, path: file.path, base_sha: file.sha256, device_id: by, mustHash: false };
  await push.push(accountId, { ...args, content: merged.content, encoding: 'utf-8' }, 'page');
  return { kind: 'done' };
}
