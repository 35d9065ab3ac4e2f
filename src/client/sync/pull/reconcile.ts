/**
 * Owns paths that changed on both sides: a merge without a conflict is taken, anything else waits for the user while the
 * hub keeps both sides.
 */
import { z } from 'zod';
import { ToolRefused } from '../../tool-refused.ts';
import { decideFate } from '../conflict-copy.ts';
import { type Content, Unreadable } from '../folder/file.ts';
import { Unwritable } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { keepCopy } from '../keep-copy.ts';
import { pushArguments, textOf } from '../push/arguments.ts';
import { send } from '../push/send.ts';
import { readAs } from '../remote-record.ts';
import type { SyncSession } from '../session.ts';
import { agree } from '../state.ts';
import { rememberAgreed } from '../state-file.ts';

const mergeSchema = z.object({
  content: z.string().nullable(),
  encoding: z.enum(['utf-8', 'base64']),
  has_conflicts: z.boolean(),
  deleted: z.boolean(),
  base_sha: z.string(),
});
const historySchema = z.object({ versions: z.array(z.object({ sha256: z.string(), device_id: z.string() })) });

type Merged = z.infer<typeof mergeSchema>;

/** `merge`: merges and sends our side. `leave`: a pull alone, which sends nothing; the path waits. */
export type Reconcile = 'merge' | 'leave';

/** Merges each path, or leaves it to the user with our side on the hub. One path never stops the others. */
export async function reconcilePaths(session: SyncSession, paths: Iterable<FolderPath>, how: Reconcile): Promise<void> {
  if (how === 'leave') return;
  for (const path of paths) {
    try {
      await reconcile(session, path);
    } catch (error) {
      if (!(error instanceof Unreadable || error instanceof Unwritable)) throw error;
      session.troubles.set(path, error.message);
    }
  }
}

async function reconcile(session: SyncSession, path: FolderPath): Promise<void> {
  const { folder, state, tell } = session;
  const wait = state.waits.get(path);
  if (wait === undefined) return;
  const mine = folder.read(path);
  // Gone this moment: the next round compares it anew.
  if (mine === undefined) return;
  await recallFromHistory(session, path);
  if (wait.remote !== null && (await tryMerge(session, path, mine))) return;
  const kept = await keepOnHub(session, path, mine);
  if (kept === 'accepted') return;
  state.waits.set(path, { ...wait, local: mine.sha256, ...kept });
  // Edited again while it waits: it is the same conflict.
  if (wait.conflictId === null) tell({ verb: 'conflict', path, note: kept.reason });
}

/** Merges our text with the hub's against the version that both build on. */
export async function mergeOnHub({ hub }: SyncSession, path: FolderPath, content: string, base: string | undefined) {
  const args = { path, content, ...(base === undefined ? {} : { base_sha: base }) };
  return readAs(mergeSchema, (await hub.call('sync_merge', args)).structured);
}

/**
 * What was sent and got no answer may have been accepted, and another device may have built on it: then that is what both
 * sides last agreed on.
 */
async function recallFromHistory(session: SyncSession, path: FolderPath): Promise<void> {
  const { state } = session;
  const sent = state.sent.get(path);
  if (sent === undefined) return;
  const known = (await versionsOf(session, path)).find(({ sha256, isOwn }) => isOwn && sent.has(sha256));
  const base = state.base.get(path)?.sha256;
  if (known !== undefined && known.sha256 !== base) state.base.set(path, { sha256: known.sha256 });
  state.sent.delete(path);
}

/** The versions that the hub keeps of a path, newest first. */
async function versionsOf({ hub, state }: SyncSession, path: FolderPath) {
  try {
    const { versions } = readAs(historySchema, (await hub.call('sync_history', { path })).structured);
    return versions.map(({ sha256, device_id: device }) => ({ sha256, isOwn: device === state.device_id }));
  } catch (error) {
    if (error instanceof ToolRefused) return [];
    throw error;
  }
}

/** True when both sides went together without a conflict. */
async function tryMerge(session: SyncSession, path: FolderPath, mine: Content): Promise<boolean> {
  const { state } = session;
  const base = state.base.get(path)?.sha256;
  const text = textOf(mine.bytes);
  if (text === undefined || base === undefined) return false;
  try {
    const merged = await mergeOnHub(session, path, text, base);
    if (merged.has_conflicts || merged.content === null || merged.encoding !== 'utf-8') return false;
    return await takeMerge(session, path, mine, { ...merged, bytes: Buffer.from(merged.content) });
  } catch (error) {
    // A side that is not text, too large to be merged, or cannot be written here: the user decides.
    if (error instanceof ToolRefused || error instanceof Unwritable) return false;
    throw error;
  }
}

/**
 * Takes a merge: on the disk first, so that a crash between the two pushes is made good by the next sync; then our own side
 * as a version, then the merge on top of it. Where another device chose our side in that moment, that choice stays.
 */
async function takeMerge(
  session: SyncSession,
  path: FolderPath,
  mine: Content,
  merged: Merged & { readonly bytes: Buffer },
): Promise<boolean> {
  const { folder, state, tell } = session;
  const done = folder.asides.keepUnsent(mine.sha256);
  const written = folder.put(path, merged.bytes, mine.sha256, { modifiedMs: Date.now() });
  if (written === false) return false;
  rememberAgreed(folder, state, path, merged.base_sha);
  const [own] = await send(session, [{ path, args: pushArguments(session, path, mine, merged.base_sha) }]);
  // Kept as a version; or, when the hub moved on in this moment, as a conflict that the next push settles. Otherwise our side
  // stays aside, and becomes a conflict copy.
  if (!(own instanceof ToolRefused) || decideFate(path, own).kind === 'pending') done();
  if (!(own instanceof ToolRefused)) {
    agree(state, path, { sha256: mine.sha256 });
    if (own?.status === 'unchanged' && !(await isLatestOwn(session, path))) {
      // Edited since: then the edit goes up.
      folder.put(path, mine.bytes, written.sha256, mine);
      return true;
    }
    const content = { ...mine, bytes: merged.bytes, sha256: written.sha256, modifiedMs: Date.now() };
    const [both] = await send(session, [{ path, args: pushArguments(session, path, content, mine.sha256) }]);
    if (!(both instanceof ToolRefused) && both !== undefined) {
      agree(state, path, { ...written, storedMs: Date.parse(both.stored_at) });
    }
  }
  tell({ verb: 'merged', path, note: 'changed on both sides, in different places' });
  return true;
}

/** Whether the current version of a path came from here; false: another device chose these bytes over its own side. */
async function isLatestOwn(session: SyncSession, path: FolderPath): Promise<boolean> {
  const [latest] = await versionsOf(session, path);
  return latest?.isOwn !== false;
}

interface Kept {
  readonly conflictId: string | null;
  readonly reason: string;
}

/** Pushes our side on top of the base that it was made on; the hub refuses it and keeps it. */
async function keepOnHub(session: SyncSession, path: FolderPath, mine: Content): Promise<'accepted' | Kept> {
  const { state } = session;
  const wait = state.waits.get(path);
  const args = pushArguments(session, path, mine, state.base.get(path)?.sha256 ?? '');
  const [outcome] = await send(session, [{ path, args }]);
  if (outcome !== undefined && !(outcome instanceof ToolRefused)) {
    agree(state, path, { sha256: mine.sha256, executable: mine.executable, storedMs: Date.parse(outcome.stored_at) });
    return 'accepted';
  }
  const reason = 'changed on both sides';
  const known = wait?.conflictId ?? null;
  if (outcome === undefined) return { conflictId: known, reason };
  const fate = decideFate(path, outcome);
  switch (fate.kind) {
    case 'pending':
      return { conflictId: fate.conflictId, reason };
    case 'copy':
      // The path is free for the hub's side then, which the next round brings.
      keepCopy(session, { from: fate.from, of: fate.from, why: fate.why });
      return { conflictId: known, reason };
    case 'listed':
      return { conflictId: known, reason: `${reason}; the hub refused ours: ${outcome.message}` };
  }
}
