/** Takes back the changes of a session, or some of them: files, tasks and documents. What was changed since is left alone. */

import { turns } from '../../common/turns.ts';
import { countWithNoun } from '../../text/count.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { Capabilities } from '../capabilities.ts';
import type { ActivityEntry } from './sessions.ts';
import { type UndoOutcome, undoFile } from './undo-files.ts';
import { type MadeVersion, planFiles, planRecords } from './undo-plan.ts';
import { undoRecord } from './undo-records.ts';

export type UndoSources = Pick<Capabilities, 'activity' | 'sync' | 'tasks' | 'docs' | 'handoffs' | 'papers'>;

/** Who takes changes back, as tasks and as files name it. */
export interface UndoBy {
  readonly author: string;
  readonly device: string;
}

export interface Undone {
  readonly files: number;
  readonly tasks: number;
  readonly documents: number;
  /** What was left alone, and why. */
  readonly kept: readonly { readonly name: string; readonly why: string }[];
}

/** `entries`: newest first. */
export async function undoEntries(
  sources: UndoSources,
  accountId: string,
  entries: readonly ActivityEntry[],
  by: UndoBy,
): Promise<Undone> {
  const done = { files: 0, tasks: 0, documents: 0, kept: [] as { name: string; why: string }[] };
  const note = (kind: 'files' | 'tasks' | 'documents', name: string, outcome: UndoOutcome) => {
    if (outcome.kind === 'kept') done.kept.push({ name, why: outcome.why });
    else if (outcome.kind === 'done') done[kind] += 1;
  };
  for (const plan of planFiles(entries.flatMap((entry) => versionsOf(sources.sync, entry)))) {
    if (turns.isOver) await turns.next(accountId);
    note('files', plan.path, await undoFile(sources.sync, accountId, plan, by.device));
  }
  const changes = entries.flatMap(({ ref }) =>
    ref.of === 'record' ? (sources.activity.get(accountId, ref.number) ?? []) : [],
  );
  for (const plan of planRecords(changes)) {
    if (turns.isOver) await turns.next(accountId);
    const kind = plan.kind === 'tasks' ? 'tasks' : 'documents';
    note(kind, plan.name, await undoRecord(sources, accountId, plan, by.author));
  }
  return done;
}

/** The versions of an entry: a rename made two. */
function versionsOf({ reader }: UndoSources['sync'], { ref }: ActivityEntry): MadeVersion[] {
  if (ref.of !== 'file') return [];
  const { vaultId, path, seq, from } = ref;
  const made = { vaultId, path, folded: foldCase(path), seq };
  const left = from === undefined ? undefined : reader.versionMeta(vaultId, seq - 1);
  if (from === undefined || left?.type !== 'deleted' || foldCase(left.path) !== foldCase(from)) return [made];
  return [made, { vaultId, path: from, folded: foldCase(from), seq: seq - 1 }];
}

/** `Undone: 6 files, 3 tasks. 1 was left alone: notes.md, changed since by phone.` */
export function undoneText({ files, tasks, documents, kept }: Undone): string {
  const counted = (count: number, one: string) => (count === 0 ? [] : [countWithNoun(count, one)]);
  const parts = [...counted(files, 'file'), ...counted(tasks, 'task'), ...counted(documents, 'document')];
  const [first] = kept;
  const left =
    first === undefined
      ? []
      : [
          `${kept.length} ${kept.length === 1 ? 'was' : 'were'} left alone${kept.length === 1 ? '' : ', such as'}: ${first.name}, ${first.why}.`,
        ];
  const whole =
    parts.length === 0 ? (first === undefined ? ['Nothing was left to undo.'] : []) : [`Undone: ${parts.join(', ')}.`];
  return [...whole, ...left].join(' ');
}
