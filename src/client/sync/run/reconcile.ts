/**
 * Reconciles paths changed on both sides: a merge without a conflict is applied; otherwise the hub keeps both sides
 * until the user decides.
 */
import { z } from 'zod';
import { limits } from '../../../limits/service.ts';
import { quoted } from '../../shown.ts';
import { ToolRefused } from '../../tool-refused.ts';
import type { Wait } from '../base/state.ts';
import { type Content, isWhole, type ReadContent, Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import { Unwritable } from '../folder/unwritable.ts';
import { decideFate } from '../plan/conflict-copy.ts';
import { countChanged } from '../plan/conflict-sides.ts';
import { searchedTo } from '../plan/unanswered.ts';
import { readAs } from '../remote-record.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import { fileVersionsOf } from '../vault-files.ts';
import { pushCall, utf8TextOf } from './arguments.ts';
import { sendCopy } from './copy.ts';
import { keepCopy } from './keep-copy.ts';
import { sendParcels } from './send.ts';

const mergeSchema = z.object({
  content: z.string().nullable(),
  encoding: z.enum(['utf-8', 'base64']),
  has_conflicts: z.boolean(),
  deleted: z.boolean(),
  base_sha: z.string(),
});
const diffSchema = z.object({ diff: z.string().nullable() });

type Merged = z.infer<typeof mergeSchema>;

/** `merge`: merges and sends the local side. `leave`: for a pull without push, which sends nothing; the path waits. */
export type Reconcile = 'merge' | 'leave';

/** Merges each path, or stores the local side on the hub for the user to decide. One path never stops the others. */
export async function reconcilePaths(step: SyncStep, paths: Iterable<FolderPath>, how: Reconcile): Promise<void> {
  for (const path of paths) {
    if (how === 'leave') {
      leaveToLater(step, path);
      continue;
    }
    try {
      await reconcile(step, path);
    } catch (error) {
      if (!(error instanceof Unreadable || error instanceof Unwritable)) throw error;
      step.next.troubles.set(path, error.message);
    }
  }
}

/** No hash of a file: the next sync that sends something merges it, or gives the hub what is here. */
function leaveToLater({ state }: SyncStep, path: FolderPath): void {
  const wait = state.waits.get(path);
  if (wait?.kind === 'conflict' && wait.conflictId === null) state.wait(path, { ...wait, local: null });
}

async function reconcile(step: SyncStep, path: FolderPath): Promise<void> {
  const { folder, state, tell } = step;
  const wait = state.waits.get(path);
  if (wait === undefined) return;
  const mine = folder.read(path);
  // Deleted just now: the next round compares it again.
  if (mine === undefined) return;
  await recallFromHistory(step, path);
  if (wait.remote !== null && (await tryMerge(step, path, mine))) return;
  if (leavesToUpload(step, path, mine)) {
    // No hash of a file: it is compared again also by a process that comes after this one.
    state.wait(path, { ...wait, local: null });
    return;
  }
  const kept = await keepOnHub(step, path, mine);
  if (kept === 'accepted') return;
  const lines = await linesApart(step, path, mine);
  state.wait(path, { ...wait, local: mine.sha256, ...kept, lines });
  // Edited again while waiting: still the same conflict, unless the hub did not take the edit.
  if (wait.conflictId === null || (kept.isUnsent && wait.isUnsent !== true))
    tell({ verb: 'conflict', path, note: kept.reason });
}

/** True under a watch for a large side that the hub does not have: it is sent first, beside the syncs of small files. */
function leavesToUpload({ large, listener }: SyncStep, path: FolderPath, mine: Content): boolean {
  if (listener === undefined || isWhole(mine) || large.offered.delete(mine.sha256)) return false;
  large.uploads.add(path);
  return true;
}

/** How many lines of a text only this side has, and only the hub's; undefined for other files, and very long ones. */
async function linesApart({ hub }: Replica, path: FolderPath, mine: Content): Promise<Wait['lines']> {
  const text = utf8TextOf(mine.bytes);
  if (text === undefined || mine.size > limits.mergeBytesMax) return undefined;
  try {
    const { structured } = await hub.call('sync_diff', { path, content: text, context: 0 });
    return countChanged(readAs(diffSchema, structured).diff ?? '');
  } catch (error) {
    if (error instanceof ToolRefused) return undefined;
    throw error;
  }
}

/** Merges the local text with the hub's, against the version on which both are based. */
export async function mergeOnHub({ hub }: Replica, path: FolderPath, content: string, base: string | undefined) {
  const args = { path, content, ...(base === undefined ? {} : { base_sha: base }) };
  return readAs(mergeSchema, (await hub.call('sync_merge', args)).structured);
}

/**
 * Looks up unanswered pushes in the history. The hub may have accepted one, and another device may have changed that
 * version since: then it is the version on which both sides last agreed. Where the hub cannot tell, they stay unanswered.
 */
export async function recallFromHistory({ hub, state }: Replica, path: FolderPath): Promise<void> {
  const sent = state.sent.get(path);
  if (sent === undefined) return;
  const agreed = state.base.get(path);
  const wanted = { path, device: state.device_id, agreed, sent };
  try {
    for await (const version of fileVersionsOf(hub, path)) {
      const found = searchedTo(version, wanted);
      if (found === 'goes on') continue;
      const { deleted, sha256, stored_at: at } = version;
      if (found === 'received' && deleted) state.setBase(path, undefined);
      else if (found === 'received' && sha256 !== agreed?.sha256)
        state.setBase(path, { sha256, storedMs: Date.parse(at) });
      break;
    }
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error;
    // A path that the hub never had has no versions.
    if (!error.isNotFound) return;
  }
  state.forgetSent(path);
}

/** True when both sides were merged without a conflict. */
async function tryMerge(step: SyncStep, path: FolderPath, mine: Content): Promise<boolean> {
  const { state } = step;
  const base = state.base.get(path)?.sha256;
  const text = utf8TextOf(mine.bytes);
  if (!isWhole(mine) || text === undefined || base === undefined) return false;
  try {
    const merged = await mergeOnHub(step, path, text, base);
    if (merged.has_conflicts || merged.content === null || merged.encoding !== 'utf-8') return false;
    return await takeMerge(step, path, mine, { ...merged, bytes: Buffer.from(merged.content) });
  } catch (error) {
    // Not text, too large to merge, or not writable here: the user decides.
    if (error instanceof ToolRefused || error instanceof Unwritable) return false;
    throw error;
  }
}

/**
 * Applies a merge: first on the disk, so that the next sync recovers from a crash between the two pushes; then pushes
 * the local side as a version, then the merge on top of it. If another device has just chosen the local side, that
 * choice stays.
 */
async function takeMerge(
  step: SyncStep,
  path: FolderPath,
  mine: ReadContent,
  merged: Merged & { readonly bytes: Buffer },
): Promise<boolean> {
  const { folder, state, tell } = step;
  // A bit that is as it was stays as the hub has it; the next round takes that over.
  const executable = mine.executable === state.base.get(path)?.executable ? undefined : mine.executable;
  const done = folder.asides.keepUnsent(mine.sha256);
  const written = folder.put(path, merged.bytes, mine.sha256, { modifiedMs: Date.now() });
  if (written === false) return false;
  state.rememberAgreed(path, merged.base_sha);
  const args = pushCall(step, path, { ...mine, executable }, merged.base_sha);
  const [own] = await sendParcels(step, [{ path, args }]);
  // The local side is now stored as a version or, when the hub has changed at this moment, as a conflict that the next
  // push settles. Otherwise it stays aside and becomes a conflict copy.
  if (!(own instanceof ToolRefused) || decideFate(path, own).kind === 'pending') done();
  if (!(own instanceof ToolRefused)) {
    state.agree(path, { sha256: mine.sha256 });
    if (own?.status === 'unchanged' && !(await isLatestOwn(step, path))) {
      // Edited since: the next sync pushes the edit.
      folder.put(path, mine.bytes, written.sha256, mine);
      return true;
    }
    const content = { executable, bytes: merged.bytes, sha256: written.sha256, modifiedMs: Date.now() };
    const [both] = await sendParcels(step, [{ path, args: pushCall(step, path, content, mine.sha256) }]);
    if (!(both instanceof ToolRefused) && both !== undefined) {
      state.agree(path, { ...written, storedMs: Date.parse(both.stored_at) });
      if (executable === undefined) step.next.due.add(path);
    }
  }
  tell({ verb: 'merged', path, note: 'changed on both sides, in different places' });
  return true;
}

/** True when the current version came from this device; false when another device chose these bytes over its own. */
async function isLatestOwn({ hub, state }: Replica, path: FolderPath): Promise<boolean> {
  try {
    for await (const { device_id: device } of fileVersionsOf(hub, path)) return device === state.device_id;
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error;
  }
  return true;
}

interface Kept {
  readonly conflictId: string | null;
  readonly isUnsent: boolean;
  readonly reason: string;
}

/** Pushes the local side on top of its base; the hub refuses the push and stores the bytes as a conflict. */
async function keepOnHub(step: SyncStep, path: FolderPath, mine: Content): Promise<'accepted' | Kept> {
  const { state } = step;
  const wait = state.waits.get(path);
  const args = pushCall(step, path, mine, state.base.get(path)?.sha256 ?? '');
  const [outcome] = await sendParcels(step, [{ path, args }]);
  if (outcome !== undefined && !(outcome instanceof ToolRefused)) {
    state.agree(path, { sha256: mine.sha256, executable: mine.executable, storedMs: Date.parse(outcome.stored_at) });
    return 'accepted';
  }
  const reason = 'changed on both sides';
  const known = wait?.conflictId ?? null;
  // A conflict from before has an earlier side: choosing the other one must still store this one.
  const isUnsent = known !== null;
  if (outcome === undefined) return { conflictId: known, isUnsent, reason };
  const fate = decideFate(path, outcome);
  switch (fate.kind) {
    case 'pending':
      return { conflictId: fate.conflictId, isUnsent: false, reason };
    case 'copy': {
      const { from, why } = fate;
      // This frees the path for the hub's side, which the next round pulls.
      if (keepCopy(step, { from, of: from, why })) return { conflictId: known, isUnsent: false, reason };
      const copy = await sendCopy(step, { path, from, content: mine });
      return {
        conflictId: known,
        isUnsent,
        reason: copy === undefined ? reason : `${reason}; ours is on the hub as ${quoted(copy)}`,
      };
    }
    case 'listed':
      return { conflictId: known, isUnsent, reason: `${reason}; the hub refused ours: ${outcome.message}` };
  }
}
