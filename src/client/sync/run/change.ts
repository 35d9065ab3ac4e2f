/** Builds one change for a push from a file, and applies the hub's answer to the state. */
import { quoted } from '../../shown.ts';
import type { ToolRefused } from '../../tool-refused.ts';
import { type Content, Unreadable } from '../folder/file.ts';
import type { LocalFile } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushedFile } from '../hub.ts';
import { decideFate } from '../plan/conflict-copy.ts';
import { afterSend } from '../plan/waits.ts';
import type { SyncStep } from '../round.ts';
import { pushCall } from './arguments.ts';
import { sendCopy } from './copy.ts';
import { keepCopy } from './keep-copy.ts';
import type { Parcel } from './send.ts';

export interface Change extends Parcel {
  /** Name of the file on the hub before a move. */
  readonly from: FolderPath | undefined;
  /** Undefined for a delete, or for a move without its bytes. */
  readonly content: Content | undefined;
  readonly isDelete: boolean;
  readonly bytes: number;
}

/** Reads a file for a push. Undefined when it is gone, as the next run detects, or unreadable, which is reported. */
export function readPut(step: SyncStep, path: FolderPath, from?: FolderPath): Change | undefined {
  const { folder, state, next } = step;
  try {
    const content = folder.read(path);
    // Saved again or removed since the scan: the next one looks at it.
    if (content?.sha256 !== next.scan?.files.get(path)?.sha256) folder.touched.add(path);
    if (content === undefined) return undefined;
    const args = pushCall(step, path, content, state.base.get(from ?? path)?.sha256 ?? '');
    const named = from === undefined ? args : { ...args, from_path: from };
    return { path, from, content, args: named, isDelete: false, bytes: content.size };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    next.troubles.set(path, error.message);
    return undefined;
  }
}

/** Records an accepted change. `outcome` undefined: the hub already had the change. */
export function settleChange({ state, tell, next }: SyncStep, change: Change, outcome: PushedFile | undefined): void {
  const { path, from, content, isDelete, bytes } = change;
  countSent(state, change);
  if (from !== undefined) state.agree(from, undefined);
  for (const one of [path, from ?? path]) next.damaged.delete(one);
  // A rename is two changes: a tombstone, then the file.
  if (outcome !== undefined && outcome.status !== 'unchanged' && from === undefined) state.noteOwn(outcome.seq);
  if (isDelete) {
    state.agree(path, undefined);
    tell({ verb: 'deleted', path });
    return;
  }
  if (content !== undefined) next.sends = afterSend(next.sends, path, bytes, Date.now());
  const seen = next.scan?.files.get(path);
  const storedMs = outcome === undefined ? undefined : Date.parse(outcome.stored_at);
  // The pushed bytes may be newer than the scan.
  const isScanned = seen !== undefined && (content === undefined || seen.sha256 === content.sha256);
  if (isScanned) {
    state.agree(path, { ...seen, storedMs });
    // The same value in both, as a scan leaves it: a folder may have many files.
    next.scan?.files.set(path, state.base.get(path) as LocalFile);
  } else if (content !== undefined) {
    state.agree(path, { sha256: content.sha256, executable: content.executable, storedMs });
  }
  if (from === undefined) tell({ verb: 'pushed', path, bytes });
  else tell({ verb: 'renamed', path, note: `it was ${from}`, bytes });
}

/** Counts an accepted change for the guard, before the base record is changed. */
function countSent(state: SyncStep['state'], { path, from, content, isDelete }: Change): void {
  const before = state.base.get(path);
  if (isDelete) state.noteRecent(path, 'deleted', 'sent');
  else if (from !== undefined) state.countMove(from, path, state.recent.get(from));
  else if (before === undefined) state.noteRecent(path, 'created', 'sent');
  else if (content !== undefined && content.sha256 !== before.sha256) state.noteRecent(path, 'rewritten', 'sent');
}

/** Handles a refused change. Resolves with true when its path has to be compared with the hub again at once. */
export async function settleRefusal(step: SyncStep, change: Change, refusal: ToolRefused): Promise<boolean> {
  const { path, content, isDelete } = change;
  if (refusal.isConflict) return true;
  const fate = decideFate(path, refusal);
  let reason = `The hub refused it: ${refusal.message}`;
  if (fate.kind === 'copy' && !isDelete) {
    const { from, why } = fate;
    // If another file of the same folder was refused before, the folder already has its new name.
    if (step.folder.isAbsent(from) || keepCopy(step, { from, of: from, why })) return true;
    const copy = content === undefined ? undefined : await sendCopy(step, { path, from, content });
    if (copy !== undefined) {
      reason = `${reason}; its content is on the hub as ${quoted(copy)}`;
      step.next.troubles.set(path, reason);
    }
  }
  // Waits until the file changes.
  const local = content?.sha256 ?? null;
  step.state.wait(path, { kind: 'push', remote: null, local, conflictId: null, reason });
  return false;
}
