/** Applies one change of the hub to a file of the folder. A file changed here is never overwritten. */

import { Unreadable } from '../folder/file.ts';
import type { LocalFile } from '../folder/folder.ts';
import { Unwritable } from '../folder/unwritable.ts';
import type { PullAction } from '../plan/decide.ts';
import { planBit, planChange } from '../plan/pull-plan.ts';
import { hangsOnSent } from '../plan/unanswered.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';

/** `done`, or why the path has to wait. `to fetch`: its content is long and was not sent. */
export type Applied = 'done' | 'both changed' | 'to fetch' | { readonly unwritable: string };

/** The local file at the time of the decision. */
type Local = Pick<LocalFile, 'sha256' | 'executable'> & Partial<LocalFile>;

/** Applies the hub's side; an undefined side is a delete. Throws RootGone. */
export function applyRemote(replica: Replica, record: RemoteRecord, local: Local | undefined): Applied {
  const { state } = replica;
  const action = plannedAction(state, record, local);
  if (action === 'conflict') return 'both changed';
  if (action === 'fetch') return 'to fetch';
  try {
    return act(replica, record, action, local) ? 'done' : 'both changed';
  } catch (error) {
    if (error instanceof Unwritable || error instanceof Unreadable) return { unwritable: error.message };
    throw error;
  }
}

/** What the hub's side means here. Nothing is replaced while it is not known whether the hub received what this folder sent. */
export function plannedAction(
  state: Replica['state'],
  record: RemoteRecord,
  local: Local | undefined,
): PullAction | 'fetch' {
  if (isUnclear(state, record, local) && local !== undefined) return 'conflict';
  return planChange(local?.sha256, record.side, state.base.get(record.path)?.sha256);
}

/** True when only the hub's versions tell what its side means here. What it has from this very folder is settled at once. */
export function isUnclear(
  state: Replica['state'],
  { path, side, deviceId, storedMs }: RemoteRecord,
  local: Local | undefined,
): boolean {
  state.recallSent(path, { sha256: side?.sha256 ?? null, deviceId, storedMs });
  return hangsOnSent(local?.sha256, { side, storedMs }, state.base.get(path), state.sent.get(path));
}

/** Executes the action. False when the file changed since the decision. */
function act(replica: Replica, record: RemoteRecord, action: PullAction, local: Local | undefined): boolean {
  const { folder, state, tell } = replica;
  const { path, side: remote, storedMs } = record;
  switch (action) {
    case 'unchanged':
      state.endWait(path);
      takeBit(replica, record, local);
      return true;
    case 'agree':
      agreeOn(replica, record, local);
      return true;
    case 'take':
    case 'revive': {
      const written = writeSide(folder, record, local?.sha256);
      if (written === false) return false;
      if (action === 'take') state.noteRecent(path, local === undefined ? 'created' : 'rewritten', 'received');
      state.agree(path, { ...written, storedMs });
      const size = { bytes: remote?.size ?? 0 };
      if (action === 'take') tell({ verb: 'pulled', path, ...size });
      else tell({ verb: 'revived', path, note: 'deleted here, changed elsewhere: the change stays', ...size });
      return true;
    }
    case 'remove':
      if (!folder.remove(path, local?.sha256 ?? '')) return false;
      state.noteRecent(path, 'deleted', 'received');
      state.agree(path, undefined);
      tell({ verb: 'removed', path });
      return true;
    case 'keep':
      state.agree(path, undefined);
      tell({ verb: 'kept', path, note: 'changed here, deleted elsewhere: the change stays' });
      return true;
    case 'conflict':
      return false;
  }
}

/** Writes the hub's side, whose bytes are here, in memory or in a file. As `SyncedFolder.put`. */
function writeSide(folder: Replica['folder'], { path, side }: RemoteRecord, expected: string | undefined) {
  if (side === undefined) throw new Error('a deleted file was to be written');
  const { bytes, file, sha256, size, executable, modifiedMs } = side;
  const look = { executable, modifiedMs, sha256 };
  if (bytes !== undefined) return folder.put(path, bytes, expected, look);
  if (file === undefined) throw new Error('a file was to be written without its bytes');
  return folder.place(path, { absolute: file, sha256, size }, expected, look);
}

/** Records that both sides have the same bytes. */
function agreeOn(replica: Replica, record: RemoteRecord, local: Local | undefined): void {
  const { path, side: remote, storedMs } = record;
  if (local === undefined) replica.state.agree(path, undefined);
  else {
    const seen = takeBit(replica, record, local) ? undefined : local.seen;
    const executable = remote?.executable ?? local.executable;
    replica.state.agree(path, { sha256: local.sha256, executable, seen, storedMs });
  }
}

/** Takes over the executable bit of the hub's side. True when it was set or removed here. */
function takeBit({ folder, state, tell }: Replica, { path, side }: RemoteRecord, local: Local | undefined): boolean {
  const base = state.base.get(path);
  const theirs = side?.executable;
  if (local === undefined) return false;
  const plan = planBit({ local: local.executable, remote: theirs, base: base?.executable });
  if (plan === 'unchanged') return false;
  // Once dressed, the file is looked at again: it may have an edit of its own, which the agreed record does not describe.
  const seen = plan === 'set' ? undefined : base?.seen;
  if (base !== undefined) state.setBase(path, { ...base, executable: theirs, seen });
  if (plan === 'agree') return false;
  folder.dress(path, { executable: theirs });
  tell({ verb: 'pulled', path, note: theirs ? 'executable now' : 'no longer executable' });
  return true;
}
