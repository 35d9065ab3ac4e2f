/** Builds one change for a push from a file, and applies the hub's answer to the state. */
import { quoted } from '../../shown.ts';
import type { ToolRefused } from '../../tool-refused.ts';
import { decideFate } from '../conflict-copy.ts';
import { type Content, Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushedFile } from '../hub.ts';
import { keepCopy } from '../keep-copy.ts';
import type { Replica } from '../replica.ts';
import { agree, noteOwn } from '../state.ts';
import { pushArguments } from './arguments.ts';
import { sendCopy } from './copy.ts';
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
export function readPut(replica: Replica, path: FolderPath, from?: FolderPath): Change | undefined {
  const { folder, state, troubles } = replica;
  try {
    const content = folder.read(path);
    if (content === undefined) return undefined;
    const args = pushArguments(replica, path, content, state.base.get(from ?? path)?.sha256 ?? '');
    const named = from === undefined ? args : { ...args, from_path: from };
    return { path, from, content, args: named, isDelete: false, bytes: content.bytes.length };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    troubles.set(path, error.message);
    return undefined;
  }
}

/** Records an accepted change. `outcome` undefined: the hub already had the change. */
export function settleChange(replica: Replica, change: Change, outcome: PushedFile | undefined): void {
  const { state, tell, scanned, damaged, restless } = replica;
  const { path, from, content, isDelete, bytes } = change;
  if (from !== undefined) agree(state, from, undefined);
  for (const one of [path, from ?? path]) damaged.delete(one);
  // A rename is two changes: a tombstone, then the file.
  if (outcome !== undefined && outcome.status !== 'unchanged' && from === undefined) noteOwn(state, outcome.seq);
  if (isDelete) {
    agree(state, path, undefined);
    tell({ verb: 'deleted', path });
    return;
  }
  if (content !== undefined) restless?.sent(path, bytes);
  const seen = scanned?.files.get(path);
  const storedMs = outcome === undefined ? undefined : Date.parse(outcome.stored_at);
  // The pushed bytes may be newer than the scan.
  const isScanned = seen !== undefined && (content === undefined || seen.sha256 === content.sha256);
  if (isScanned) agree(state, path, { ...seen, storedMs });
  else if (content !== undefined) {
    agree(state, path, { sha256: content.sha256, executable: content.executable, storedMs });
  }
  if (from === undefined) tell({ verb: 'pushed', path, bytes });
  else tell({ verb: 'renamed', path, note: `it was ${from}`, bytes });
}

/** Handles a refused change. Resolves with true when its path has to be compared with the hub again at once. */
export async function settleRefusal(replica: Replica, change: Change, refusal: ToolRefused): Promise<boolean> {
  const { path, content, isDelete } = change;
  if (refusal.isConflict) return true;
  const fate = decideFate(path, refusal);
  let reason = `The hub refused it: ${refusal.message}`;
  if (fate.kind === 'copy' && !isDelete) {
    const { from, why } = fate;
    // If another file of the same folder was refused before, the folder already has its new name.
    if (replica.folder.isAbsent(from) || keepCopy(replica, { from, of: from, why })) return true;
    const copy = content === undefined ? undefined : await sendCopy(replica, { path, from, content });
    if (copy !== undefined) {
      reason = `${reason}; its content is on the hub as ${quoted(copy)}`;
      replica.troubles.set(path, reason);
    }
  }
  // Waits until the file changes.
  const local = content?.sha256 ?? null;
  replica.state.waits.set(path, { kind: 'push', remote: null, local, conflictId: null, reason });
  return false;
}
