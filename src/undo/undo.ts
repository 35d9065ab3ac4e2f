/**
 * Takes back changes that somebody made: files, tasks and documents become what they were before. Each is looked at, then
 * changed by compare-and-set: what somebody else changed since is left, and named.
 */
import { planOnce } from '../actors/once/calls.ts';
import { turns } from '../common/turns.ts';
import type { ChangeRef } from '../events/logs.ts';
import { fileUri } from '../sync/tools/uri.ts';
import { foldCase } from '../text/fold-case.ts';
import { decideFile, type FileSources, undoFile } from './files.ts';
import type { UndoOutcome } from './outcome.ts';
import { type MadeVersion, planFiles, planRecords } from './plan.ts';
import { decideRecord, type RecordSources, undoRecord } from './records.ts';

export interface UndoSources extends RecordSources {
  readonly sync: FileSources;
}

/** Who takes changes back, as tasks and as files name it. */
interface UndoBy {
  readonly author: string;
  readonly device: string;
}

export interface UndoneItem {
  readonly kind: 'files' | 'tasks' | 'documents';
  /** Its id. */
  readonly thing: string;
  readonly name: string;
  readonly outcome: UndoOutcome;
}

export interface UndoOptions {
  readonly by: UndoBy;
  /** Only says what would become of each. */
  readonly isDry?: boolean;
  /** Hears how many are done, of how many. */
  readonly progress?: ((done: number, total: number, what: string) => void) | undefined;
}

/** `changes`: newest first. A repeat of a request with an idempotency key takes back the same ones. */
export async function undoChanges(
  sources: UndoSources,
  accountId: string,
  changes: readonly ChangeRef[],
  { by, isDry = false, progress }: UndoOptions,
): Promise<UndoneItem[]> {
  return await planOnce(
    ['undo'],
    () => ({
      files: planFiles(changes.flatMap((ref) => versionsOf(sources.sync, ref))),
      records: planRecords(
        changes.flatMap((ref) => (ref.of === 'record' ? (sources.activity.get(accountId, ref.number) ?? []) : [])),
      ),
    }),
    async ({ files, records }) => {
      const items: UndoneItem[] = [];
      const add = (item: UndoneItem) => {
        items.push(item);
        progress?.(items.length, files.length + records.length, 'changes taken back');
      };
      for (const plan of files) {
        if (turns.isOver) await turns.next(accountId);
        const outcome = await planOnce(
          ['undo', plan.vaultId, plan.folded],
          () => decideFile(sources.sync, accountId, plan),
          (step) => undoFile(sources.sync, accountId, step, { by: by.device, isDry }),
        );
        add({ kind: 'files', thing: fileUri(plan.vaultId, plan.path), name: plan.path, outcome });
      }
      for (const plan of records) {
        if (turns.isOver) await turns.next(accountId);
        const outcome = await planOnce(
          ['undo', plan.kind, plan.item],
          () => decideRecord(sources, accountId, plan),
          (step) => undoRecord(sources, accountId, step, { by: by.author, isDry }),
        );
        const kind = plan.kind === 'tasks' ? 'tasks' : 'documents';
        add({ kind, thing: `cairn://${plan.kind}/${plan.item}`, name: plan.name, outcome });
      }
      return items;
    },
  );
}

/** The versions of a change: a rename made two. */
function versionsOf({ reader }: FileSources, ref: ChangeRef): MadeVersion[] {
  if (ref.of !== 'file') return [];
  const { vaultId, path, seq, from } = ref;
  const made = { vaultId, path, folded: foldCase(path), seq };
  const left = from === undefined ? undefined : reader.versionMeta(vaultId, seq - 1);
  if (from === undefined || left?.type !== 'deleted' || foldCase(left.path) !== foldCase(from)) return [made];
  return [made, { vaultId, path: from, folded: foldCase(from), seq: seq - 1 }];
}
