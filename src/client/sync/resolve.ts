/** Settles a path changed on both sides by the user's choice, never by a clock. */

import { ownMarkLine } from '../../limits/conflict-marks.ts';
import { formatChunkList } from '../../text/chunk-list.ts';
import { ClientError } from '../client-error.ts';
import { keepMineCommand, nextCommand, restoreVersionCommand } from '../next-command.ts';
import { ToolRefused } from '../tool-refused.ts';
import type { Amount } from './amount.ts';
import { sideOnHub, type Wait } from './base/state.ts';
import { fetchLarge } from './chunks/fetch-large.ts';
import type { Content } from './folder/file.ts';
import { checkFolderPath, type FolderPath, isBad } from './folder/path.ts';
import { Unwritable } from './folder/unwritable.ts';
import { whyDamaged } from './plan/troubles.ts';
import type { RemoteRecord } from './remote-record.ts';
import type { Replica } from './replica.ts';
import { newRound, type Round } from './round.ts';
import { applyRemote } from './run/apply.ts';
import { pushCall, utf8TextOf } from './run/arguments.ts';
import { NO_COPY, renamedToCopy } from './run/keep-copy.ts';
import { mergeOnHub } from './run/reconcile.ts';
import { scanFiles } from './run/scan-files.ts';
import { type Parcel, sendParcels } from './run/send.ts';
import { Spellings, settleWaitingNames } from './run/spelling.ts';

export const CONFLICT_CHOICES = ['mine', 'theirs', 'both', 'merge'] as const;

export type ConflictChoice = (typeof CONFLICT_CHOICES)[number];

/** What to restore to undo a choice; undefined when the other side is a delete. */
type Undoes = number | { readonly conflictId: string } | undefined;

interface Sides {
  readonly path: FolderPath;
  readonly wait: Wait;
  readonly mine: Content | undefined;
  readonly remote: RemoteRecord;
}

/** Settles a path. Throws ClientError when it has no conflict, or changed at this moment. */
export async function resolveConflict(replica: Replica, given: string, keep: ConflictChoice): Promise<Round> {
  const { folder, state, tell } = replica;
  const next = newRound();
  const local = await scanFiles({ ...replica, next });
  settleWaitingNames({ ...replica, next }, local);
  const named = checkFolderPath(given.replace(/^\.\//, ''));
  const wait = isBad(named) ? undefined : state.waits.get(named);
  if (isBad(named) || wait === undefined || wait.kind === 'push' || wait.kind === 'download') {
    throw new ClientError(`${given} has no conflict; \`${nextCommand(folder.root.path, 'sync status')}\` lists them.`);
  }
  const current = await currentOf(replica, named);
  const remote = keep === 'theirs' || keep === 'both' ? await withBytes(replica, current) : current;
  const { side } = remote;
  // The hub's spelling is taken over here too, unless another file has it or the disk refuses.
  const isFree = remote.path !== named && !local.files.has(remote.path);
  const path = isFree ? (new Spellings(replica, local).adopt(remote.path) ?? remote.path) : named;
  const sides = { path, wait, mine: folder.read(path), remote };
  if (keep !== 'mine' && side !== undefined && side.bytes === undefined && side.chunks === undefined) {
    throw new ClientError(`${path} stays as it is. ${whyDamaged(folder.root.path, path)}`);
  }
  if (keep === 'mine' || keep === 'both') checkMarks(replica, sides);
  if (keep === 'both') {
    await keepBoth(replica, sides);
    return next;
  }
  let undoes: Undoes;
  if (keep === 'mine') undoes = await keepMine(replica, sides);
  else if (keep === 'theirs') undoes = await keepTheirs(replica, sides);
  else await writeMarkers(replica, sides);
  await state.save();
  const undo = undoes === undefined ? '' : `; to undo: ${restoreVersionCommand(folder.root.path, path, undoes)}`;
  if (keep !== 'merge') tell({ verb: keep === 'mine' ? 'pushed' : 'pulled', path, note: `settled: ${keep}${undo}` });
  return next;
}

/** The current state of a path on the hub, with its bytes. Throws ClientError. */
export async function currentOf(
  { hub, progress }: Pick<Replica, 'hub' | 'progress'>,
  path: FolderPath,
): Promise<RemoteRecord> {
  let found: RemoteRecord = { path, side: undefined, storedMs: 0 };
  const arrivals = {
    record: (record: RemoteRecord) => {
      found = record;
    },
    foreign: () => undefined,
    damaged: () => {
      throw new ClientError(`the hub sent ${path} damaged; run the command again.`);
    },
    progress: (amount: Amount) => progress('download', amount),
  };
  // The hub answers in its own spelling of the name.
  const [leftOut] = await hub.pullPaths([path], arrivals, { brief: false });
  if (leftOut === undefined) return found;
  const [name, sha256] = leftOut;
  return {
    ...found,
    path: name,
    side: { sha256, bytes: undefined, size: 0, executable: undefined, modifiedMs: undefined },
  };
}

/** The record with its bytes, which for a large file come in chunks. Throws ClientError. */
async function withBytes(replica: Replica, record: RemoteRecord): Promise<RemoteRecord> {
  const { path, side } = record;
  if (side?.chunks === undefined) return record;
  try {
    return await fetchLarge(replica, record, {
      onBytes: (bytes) => replica.progress('download', { files: 0, filesTotal: 1, bytes, bytesTotal: side.size }),
    });
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    throw new ClientError(`${path} was not replaced. ${error.message}`);
  }
}

async function keepMine(replica: Replica, { path, wait, mine, remote }: Sides): Promise<Undoes> {
  const args = pushCall(replica, remote.path, mine, remote.side?.sha256 ?? '');
  const resolves = wait.conflictId === null ? {} : { resolves: wait.conflictId };
  await push(replica, { path, args: { ...args, ...resolves } }, mine);
  return remote.side === undefined ? undefined : remote.seq;
}

/** Pushes a file as it is here, or that it is gone, and records that both sides have that. Throws ToolRefused. */
async function push(replica: Replica, { path, args }: Parcel, content: Content | undefined): Promise<void> {
  const [outcome] = await sendParcels(replica, [{ path, args }]);
  if (outcome instanceof ToolRefused) throw outcome;
  const storedMs = outcome === undefined ? undefined : Date.parse(outcome.stored_at);
  const agreed = content && { sha256: content.sha256, executable: content.executable, storedMs };
  replica.state.agree(path, agreed);
}

/** Throws ClientError while the markers that `--keep merge` wrote are in the file here. */
function checkMarks({ folder }: Replica, { path, mine }: Sides): void {
  const line = ownMarkLine(utf8TextOf(mine?.bytes) ?? '');
  if (line === undefined) return;
  const then = keepMineCommand(folder.root.path, path);
  throw new ClientError(
    `${path} still has conflict markers, at line ${line}. Edit the file and delete them, then run: ${then}`,
  );
}

/** Renames the file here to a conflict copy, which every device gets, and takes the hub's side under its name. */
async function keepBoth(replica: Replica, { path, wait, mine, remote }: Sides): Promise<void> {
  const { folder, hub, state, tell } = replica;
  if (mine === undefined || remote.side === undefined) {
    throw new ClientError(`${path} is deleted on one side; choose --keep mine or --keep theirs.`);
  }
  const copy = renameToCopy(replica, path);
  const base = state.base.get(path);
  // As if it had never been here, so that the hub's side is new.
  state.agree(path, undefined);
  takeTheirs(replica, { path, wait, remote }, undefined, () => {
    folder.rename(copy, path);
    state.agree(path, base);
  });
  if (wait.conflictId !== null) await hub.dismiss(wait.conflictId);
  await state.save();
  tell({ verb: 'pulled', path, note: `settled: both; yours is ${copy}; to undo: rename it to ${path}` });
  // If this fails, the copy is a new file, which the next sync sends.
  const content = folder.read(copy);
  if (content === undefined) return;
  await push(replica, { path: copy, args: pushCall(replica, copy, content, '') }, content);
  await state.save();
}

/** Puts the hub's side in place of what is here; the caller reports that. Throws ClientError, after `undo`, when it cannot. */
function takeTheirs(
  replica: Replica,
  { path, wait, remote }: Omit<Sides, 'mine'>,
  mine: Content | undefined,
  undo: () => void,
): void {
  const applied = applyRemote({ ...replica, tell: () => undefined }, { ...remote, path }, mine);
  if (applied === 'done') return;
  undo();
  replica.state.wait(path, wait);
  const why = typeof applied === 'object' ? applied.unwritable : 'It changed just now; run the command again.';
  throw new ClientError(`${path} was not replaced. ${why}`);
}

/** Returns the path of the copy. Throws ClientError when the file cannot be renamed. */
function renameToCopy(replica: Replica, path: FolderPath): FolderPath {
  try {
    const copy = renamedToCopy(replica, path, path);
    if (copy === undefined) throw new Unwritable(NO_COPY);
    return copy;
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    throw new ClientError(`${path} was not renamed. ${error.message}`);
  }
}

async function keepTheirs(replica: Replica, { path, wait, mine, remote }: Sides): Promise<Undoes> {
  const { hub, state } = replica;
  // Edited since: the conflict on the hub has the bytes from before.
  const isOnHub = sideOnHub(wait) === (mine?.sha256 ?? null);
  const kept = isOnHub || mine === undefined ? undefined : await keepAsVersion(replica, path, mine, remote);
  // Records the local side as the base, so that only the hub's side counts as changed.
  state.agree(path, mine === undefined ? undefined : { sha256: mine.sha256 });
  takeTheirs(replica, { path, wait, remote }, mine, () => undefined);
  if (wait.conflictId !== null) await hub.dismiss(wait.conflictId);
  return isOnHub && mine !== undefined && wait.conflictId !== null ? { conflictId: wait.conflictId } : kept;
}

/**
 * Stores the local side as a version, then makes the hub's side current again: the history has the discarded side.
 * Returns the number of that version.
 */
async function keepAsVersion(
  replica: Replica,
  path: FolderPath,
  mine: Content,
  { path: name, side: theirs }: RemoteRecord,
): Promise<number | undefined> {
  if (mine.sha256 === theirs?.sha256) return undefined;
  const [own] = await sendParcels(replica, [{ path, args: pushCall(replica, name, mine, theirs?.sha256 ?? '') }]);
  if (own instanceof ToolRefused) throw own;
  const back = theirs && { ...theirs, modifiedMs: theirs.modifiedMs ?? Date.now() };
  const args = pushCall(replica, name, back, mine.sha256);
  const list = theirs?.chunks && { content: formatChunkList(theirs.chunks) };
  // Not recorded as sent: if this answer is lost, the next sync still finds two sides.
  const [again] = await replica.hub.push([{ ...args, ...list }]);
  if (again instanceof ToolRefused) throw again;
  return own?.seq;
}

/** Writes both sides into the file with git's conflict markers; the user edits it and then keeps the local side. */
async function writeMarkers(replica: Replica, { path, mine, remote }: Sides): Promise<void> {
  const { folder, state, tell } = replica;
  const text = mine && utf8TextOf(mine.bytes);
  const theirs = remote.side?.bytes && utf8TextOf(remote.side.bytes);
  if (mine === undefined || text === undefined || theirs === undefined) {
    throw new ClientError(`${path} is not text on both sides; choose --keep mine or --keep theirs.`);
  }
  const merged = await mergeOnHub(replica, path, text, state.base.get(path)?.sha256);
  if (merged.content === null) {
    throw new ClientError(`${path} cannot be merged; choose --keep mine or --keep theirs.`);
  }
  if (folder.put(path, Buffer.from(merged.content), mine.sha256) === false) {
    throw new ClientError(`${path} changed in this moment; run the command again.`);
  }
  const note = `both sides are in the file; edit it, then run: ${keepMineCommand(folder.root.path, path)}`;
  tell({ verb: 'merged', path, note });
}
