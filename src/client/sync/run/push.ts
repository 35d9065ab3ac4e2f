/** Pushes the changes of the folder to the hub, each on top of its base. */
import { isChunked } from '../../../limits/large-file.ts';
import { limits } from '../../../limits/service.ts';
import { foldCase } from '../../../text/fold-case.ts';
import { ToolRefused } from '../../tool-refused.ts';
import { heldFromHub } from '../base/state.ts';
import { lookAt, Unreadable } from '../folder/file.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import type { PushedFile } from '../hub.ts';
import { isOver, windowOf } from '../plan/guard.ts';
import { doublesIn } from '../plan/names.ts';
import { editedConflicts, mayBePushed, type PushPlan, planPush, refusedNoMore } from '../plan/push-plan.ts';
import { compareNow, type SyncStep } from '../round.ts';
import type { Scan } from '../scan/scan.ts';
import { moveCall, pushCall } from './arguments.ts';
import { type Change, readPut, settleChange, settleRefusal } from './change.ts';
import { sendTwins } from './copy.ts';
import { sendWaitingSaves } from './saves.ts';
import { portionsOf, sendParcels } from './send.ts';

export interface PushRules {
  /** Under a watch, which transfers large files itself and comes back: they are only queued, and some may rest. */
  readonly leavesLarge: boolean;
}

/** JSON-RPC code: the path does not exist. */
const NOT_FOUND = -32005;

/** Pushes the local changes. Afterwards `recheck` has the paths where the hub has changed: pull, and push again. */
export async function pushChanges(step: SyncStep, local: Scan, { leavesLarge }: PushRules): Promise<void> {
  const { folder, state, large, listener } = step;
  await sendTwins(step, local);
  const isOtherRoot = state.inode !== null && state.inode !== folder.root.inode;
  // Once: while deletes are held back, the state keeps the inode of the folder before.
  if (isOtherRoot && !step.next.isRenewed) {
    state.becomeNewDevice();
    step.next.isRenewed = true;
  }
  for (const path of refusedNoMore(local, state)) state.endWait(path);
  const doubles = doublesIn(state, local, state.unsure);
  for (const path of doubles) state.setBase(path, undefined);
  const isUnsure = mayBePushed(local, state, step.next.damaged);
  for (const path of state.unsure) if (!isUnsure(path)) state.trust(path);
  const plan = planPush(
    local,
    state,
    {
      ...step.next.allows,
      isCounted: (path) => state.recent.has(path),
      window: windowOf(state.recent.values(), 'sent', state.base.size),
      isOtherRoot,
      unmovable: step.next.unmovable,
      isReplaced: (path) => folder.isReplaced(path),
      isGoing: (path) => large.isGoing(path),
      damaged: step.next.damaged,
      // Without a watch, nobody comes back for a file that rests.
      sends: leavesLarge ? step.next.sends : new Map(),
      nowMs: Date.now(),
    },
    [...state.unsure, ...step.next.damaged.keys()],
  );
  // Those that are being hashed are told by the bell.
  const isRestless = [...local.resting].some((path) => folder.large.isRestless(folder.at(path)));
  const nextLookMs = isRestless ? Date.now() + limits.clientLargeStillMs : Number.POSITIVE_INFINITY;
  step.next.restsUntilMs = Math.min(plan.restsUntilMs, nextLookMs);
  step.next.held.clear();
  for (const path of plan.held) step.next.held.set(path, local.files.has(path) ? 'rewritten' : 'deleted');
  if (plan.held.length === 0) state.setInode(folder.root.inode);
  // While something is held back, what led to it stays in view.
  if (plan.held.length + heldFromHub(state).size === 0) state.forgetOver((change) => isOver(change, Date.now()));
  const run = new PushRun(step, local, plan);
  for (const path of editedConflicts(local, state, (one) => large.isGoing(one))) step.next.recheck.add(path);
  for (const path of doubles) compareNow(step, path);
  for (const portion of run.portions()) {
    await run.push(portion);
    if (portion.some(({ isDelete }) => isDelete))
      for (const path of await sendWaitingSaves(step)) step.next.recheck.add(path);
    // Stops early: the rest is planned again, so that small changes get a turn.
    if (listener?.isOverdue() === true) break;
  }
  run.queueLarge();
  await state.save();
}

/** True when a file is there, or cannot be inspected. */
function mayExist(folder: SyncedFolder, path: FolderPath): boolean {
  try {
    return folder.blocked(path) === undefined && lookAt(folder.at(path))?.isFile() === true;
  } catch (error) {
    if (error instanceof Unreadable) return true;
    throw error;
  }
}

class PushRun {
  readonly #step: SyncStep;
  readonly #local: Scan;
  readonly #plan: PushPlan;
  readonly #done = { files: 0, bytes: 0 };
  readonly #largeBytes: number;
  readonly #total: { readonly filesTotal: number; readonly bytesTotal: number };

  constructor(step: SyncStep, local: Scan, plan: PushPlan) {
    this.#step = step;
    this.#local = local;
    this.#plan = plan;
    this.#largeBytes = step.large.upload.size;
    const { puts, moves, deletes } = plan;
    const bytesTotal = puts.reduce((sum, path) => sum + (local.files.get(path)?.seen.bytes ?? 0), 0);
    this.#total = { filesTotal: puts.length + moves.size + deletes.length, bytesTotal };
  }

  /** Orders the changes: a name is released before it is used again. */
  *portions(): Generator<Change[]> {
    const { deletes, moves, puts } = this.#plan;
    const { size: bytes } = this.#step.large.upload;
    const rest = puts.filter((path) => !moves.has(path) && !this.#isLarge(path));
    yield* portionsOf(
      each(deletes, (path) => this.#delete(path)),
      bytes,
    );
    yield* portionsOf(
      each(moves.keys(), (path) => this.#move(path)),
      bytes,
    );
    yield* portionsOf(
      each(rest, (path) => this.#put(path)),
      bytes,
    );
  }

  /** Queues large files: they are sent one after another, parallel to the others. */
  queueLarge(): void {
    const { large } = this.#step;
    for (const path of large.uploads) if (this.#local.leavesOut(path)) large.uploads.delete(path);
    for (const path of this.#plan.puts) if (this.#isLarge(path) && !large.isGoing(path)) large.uploads.add(path);
  }

  #isLarge(path: FolderPath): boolean {
    const bytes = this.#local.files.get(path)?.seen.bytes ?? 0;
    return bytes > this.#largeBytes || isChunked(bytes);
  }

  async push(portion: readonly Change[]): Promise<void> {
    const step = this.#step;
    // Last check before sending: the folder may have been replaced.
    step.folder.root.check();
    const startMs = performance.now();
    const outcomes = await this.#send(portion);
    step.large.upload.measure(bytesOf(portion), performance.now() - startMs);
    for (const [index, change] of portion.entries()) {
      const outcome = outcomes[index];
      if (outcome instanceof ToolRefused) await this.#refused(change, outcome);
      else settleChange(step, change, outcome);
      this.#done.files += 1;
      this.#done.bytes += change.bytes;
    }
    step.progress('upload', { ...this.#done, ...this.#total });
    await step.state.saveSometimes();
  }

  #delete(path: FolderPath): Change | undefined {
    const { folder, state } = this.#step;
    folder.root.check();
    // Unmounted since the scan: the state of the file is unknown.
    const isUnmounted = (mount: string) => path.startsWith(`${mount}/`) && folder.root.isElsewhere(mount) === false;
    if (state.mounts.some(isUnmounted)) return undefined;
    // Exists again since the scan: the next one looks at it.
    if (mayExist(folder, path)) {
      folder.touched.add(path);
      return undefined;
    }
    const args = pushCall(this.#step, path, undefined, state.base.get(path)?.sha256 ?? '');
    return { path, args, from: undefined, content: undefined, isDelete: true, bytes: 0 };
  }

  /** A moved file is sent without its bytes, unless they changed as well. */
  #move(path: FolderPath): Change | undefined {
    const from = this.#plan.moves.get(path);
    const local = this.#local.files.get(path);
    const base = from === undefined ? undefined : this.#step.state.base.get(from);
    if (from === undefined || local === undefined || base?.sha256 !== local.sha256) return this.#put(path);
    const look = { executable: local.executable, modifiedMs: Math.floor(local.seen.modifiedMs) };
    const args = moveCall(this.#step, { from, to: path }, look, base.sha256);
    return { path, args, from, content: undefined, isDelete: false, bytes: 0 };
  }

  #put(path: FolderPath): Change | undefined {
    return readPut(this.#step, path, this.#plan.moves.get(path));
  }

  /** Sends a portion. If it is refused as a whole, sends its files one by one, so that one never stops the others. */
  async #send(portion: readonly Change[]): Promise<(PushedFile | ToolRefused)[]> {
    try {
      return await sendParcels(this.#step, portion);
    } catch (error) {
      if (!(error instanceof ToolRefused)) throw error;
      if (portion.length === 1) return [error];
    }
    const outcomes: (PushedFile | ToolRefused)[] = [];
    for (const change of portion) outcomes.push(...(await this.#send([change])));
    return outcomes;
  }

  async #refused(change: Change, refusal: ToolRefused): Promise<void> {
    const { path, from, isDelete } = change;
    if (isDelete && refusal.code === NOT_FOUND) {
      settleChange(this.#step, change, undefined);
      return;
    }
    if (from !== undefined && foldsDiffer(from, path)) {
      // Retried as a delete and a new file, each decided separately.
      this.#step.next.unmovable.add(path);
      this.#step.next.recheck.add(path).add(from);
      return;
    }
    if (await settleRefusal(this.#step, change, refusal)) this.#step.next.recheck.add(path);
  }
}

const bytesOf = (portion: readonly Change[]): number => portion.reduce((sum, { bytes }) => sum + bytes, 0);

/** True when two names differ in more than their spelling. */
function foldsDiffer(a: string, b: string): boolean {
  return foldCase(a) !== foldCase(b);
}

/** Reads the change of each path in turn; unreadable files are left out. */
function* each(paths: Iterable<FolderPath>, read: (path: FolderPath) => Change | undefined): Generator<Change> {
  for (const path of paths) {
    const change = read(path);
    if (change !== undefined) yield change;
  }
}
