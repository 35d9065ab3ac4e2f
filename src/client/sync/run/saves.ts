/** Sends the stored copies of earlier saves, each on top of the version it was based on. */
import { join } from 'node:path';
import { ToolRefused } from '../../tool-refused.ts';
import { sideOnHub } from '../base/state.ts';
import { lookIfReadable, type ReadContent, Unreadable } from '../folder/file.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Save } from '../folder/saves.ts';
import type { PushedFile } from '../hub.ts';
import { decideFate } from '../plan/conflict-copy.ts';
import { type Allows, heldKinds, windowOf } from '../plan/guard.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import { pushCall } from './arguments.ts';
import { type Change, settleChange } from './change.ts';
import { sendCopy } from './copy.ts';
import { keepCopy } from './keep-copy.ts';
import { portionsOf, sendParcels, sendUnrecorded } from './send.ts';

interface Sent extends Change {
  readonly content: ReadContent;
  readonly save: Save;
  /** The file here is again as both sides agreed: the save must not take its place. */
  readonly isTakenBack: boolean;
}

type Accepted = Map<FolderPath, Pick<Save, 'base' | 'sha256'>>;

/** Sends the stored saves, the oldest of each file first. */
export async function sendSaves(step: SyncStep): Promise<void> {
  /** The last save of each path accepted by the hub, with its base. */
  const accepted: Accepted = new Map();
  /** Saves that can neither be sent nor put into the folder now; a later sync retries them. */
  const stuck = new Set<string>();
  /** Paths of which the hub takes no save now: it is not asked for the next one. */
  const refused = new Set<FolderPath>();
  for (;;) {
    const saves = (await openSaves(step)).filter(({ place, path }) => !stuck.has(place) && !refused.has(path));
    if (saves.length === 0) return;
    const first = saves.filter(({ path }, at) => saves.findIndex((save) => save.path === path) === at);
    const parcels = first.flatMap((save): Sent[] => {
      const content = readSave(step, save);
      if (content === undefined) {
        stuck.add(save.place);
        return [];
      }
      // Based on the same version as the previous save, so it follows that save.
      const { path, sha256 } = save;
      const before = accepted.get(path);
      const agreed = step.state.base.get(path)?.sha256;
      const isTakenBack = currentOf(step.folder, path) === agreed;
      const follows = before?.base === save.base ? before.sha256 : (save.base ?? agreed ?? '');
      const base = isTakenBack && agreed !== undefined ? sha256 : follows;
      const args = pushCall(step, path, content, base);
      return [
        { path, args, save, content, isTakenBack, from: undefined, isDelete: false, bytes: content.bytes.length },
      ];
    });
    const { size } = step.large.upload;
    const aside = portionsOf(parcels.filter(namesItself), size);
    const rest = portionsOf(
      parcels.filter((parcel) => !namesItself(parcel)),
      size,
    );
    for (const portion of [...aside, ...rest]) {
      const outcomes = await sendEach(step, portion);
      for (const [at, parcel] of portion.entries()) {
        if (await settle(step, parcel, { outcome: outcomes[at], accepted })) parcel.save.drop();
        else stuck.add(parcel.save.place);
        if (step.next.unsent.has(parcel.save.place)) refused.add(parcel.path);
      }
    }
  }
}

/**
 * Sends the saves that the hub did not take, after files were deleted there: before newer contents, so that each is a
 * version. Resolves with their paths, which are pushed again.
 */
export async function sendWaitingSaves(step: SyncStep): Promise<ReadonlySet<FolderPath>> {
  const { folder, state } = step;
  const { unsent } = step.next;
  const waiting = folder.saves.list().filter(({ place }) => unsent.has(place));
  const paths = new Set(waiting.map(({ path }) => path));
  unsent.clear();
  if (paths.size > 0) await sendSaves(step);
  for (const path of paths) if (state.waits.get(path)?.kind === 'push') state.endWait(path);
  return paths;
}

/** Drops the saves that became the current version, after a push. Once no save waits, lost ones are no longer a problem. */
export async function endSaves(step: SyncStep): Promise<void> {
  const { saves } = step.folder;
  if (saves.list().length > 0) {
    await openSaves(step);
    if (saves.list().length > 0) return;
  }
  saves.forgetLost();
}

/** True for a save that becomes a side which was not chosen, and never the current version. */
const namesItself = ({ args, save }: Sent): boolean => args['base_sha'] === save.sha256;

/** Sends a portion. If it is refused as a whole, sends its saves one by one, so that one never stops the others. */
async function sendEach(step: Replica, portion: readonly Sent[]): Promise<(PushedFile | ToolRefused)[]> {
  try {
    // What never becomes the current version is no record of what the hub may have here.
    const calls = portion.map(({ args }) => args);
    return portion.every(namesItself) ? await sendUnrecorded(step, calls) : await sendParcels(step, portion);
  } catch (error) {
    if (!(error instanceof ToolRefused)) throw error;
    if (portion.length === 1) return [error];
  }
  const outcomes: (PushedFile | ToolRefused)[] = [];
  for (const parcel of portion) outcomes.push(...(await sendEach(step, [parcel])));
  return outcomes;
}

/** The saves still to be sent: drops those that the hub has and those of excluded paths. */
async function openSaves({ folder, state, hub, large, next }: SyncStep): Promise<Save[]> {
  const { scan, unsent } = next;
  const open: Save[] = [];
  const saves = folder.saves.list();
  const current = new Map<FolderPath, string | undefined>();
  for (const save of saves) {
    const { path, sha256 } = save;
    const isSent = state.sent.get(path)?.has(sha256) === true;
    const isKnown = state.base.get(path)?.sha256 === sha256 || sideOnHub(state.waits.get(path)) === sha256;
    const isOnHub = isKnown || (isSent && (await hub.hasVersion(path, sha256)));
    if (isOnHub || scan?.excludes(path) === true) save.drop();
    // A save that is still the current file, or is being uploaded, is sent like any other file.
    else if (unsent.has(save.place) || large.isGoing(path)) continue;
    else {
      if (!current.has(path)) current.set(path, currentOf(folder, path));
      if (current.get(path) !== sha256) open.push(save);
    }
  }
  return notHeld(open, state, next.allows);
}

/** The saves that the guard lets pass: what it holds back is not sent as an earlier save either. */
function notHeld(open: readonly Save[], state: SyncStep['state'], allows: Allows): Save[] {
  const isHeldHere = ({ path }: Save) => state.waits.get(path)?.kind === 'held';
  const rewrites = new Set(
    open.map(({ path }) => path).filter((path) => state.base.has(path) && !state.recent.has(path)),
  );
  const window = windowOf(state.recent.values(), 'sent', state.base.size);
  const isMuch = heldKinds(window, { deleted: 0, rewritten: rewrites.size }, allows).rewrites;
  return open.filter((save) => !isHeldHere(save) && !(isMuch && rewrites.has(save.path)));
}

/** Undefined for a save that cannot be read: now, which a later sync does, or ever, so that what is left of it becomes a copy. */
function readSave(step: SyncStep, save: Save): ReadContent | undefined {
  const { path, place } = save;
  try {
    const content = save.read();
    if (content !== undefined) return content;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    step.next.troubles.set(path, `An earlier save of it waits. ${error.message}`);
    return undefined;
  }
  // Where it is gone, another process has sent and deleted it.
  const isLeft = lookIfReadable(join(step.folder.root.path, place)) !== undefined;
  if (!isLeft || keepCopy(step, { from: place, of: path, why: 'an earlier save of it is damaged' })) save.drop();
  return undefined;
}

interface Settling {
  readonly outcome: PushedFile | ToolRefused | undefined;
  readonly accepted: Accepted;
}

/** Handles the answer to a save. False when its bytes exist nowhere else. */
async function settle(step: SyncStep, parcel: Sent, { outcome, accepted }: Settling): Promise<boolean> {
  const { state } = step;
  const { path, save } = parcel;
  if (!(outcome instanceof ToolRefused)) {
    // The hub's side is another device's choice of the same bytes, which the pull takes: what stands here is no answer to it.
    if (parcel.isTakenBack && outcome?.status === 'unchanged') return true;
    settleChange(step, parcel, outcome);
    accepted.set(path, save);
    return true;
  }
  const fate = decideFate(path, outcome);
  const wait = state.waits.get(path);
  if (fate.kind === 'pending') {
    // The hub stores it. Settled here, since the user only has to decide about the current file.
    await step.hub.dismiss(fate.conflictId);
    if (wait?.kind === 'conflict') state.wait(path, { ...wait, conflictId: null, isUnsent: undefined, local: null });
    return true;
  }
  if (outcome.isFull || outcome.isForbidden || (fate.kind === 'listed' && wait?.kind === 'push')) {
    // It stays here until the hub takes it, and is a version then. A copy in the folder would be refused as well.
    step.next.unsent.add(save.place);
    return false;
  }
  if (fate.kind === 'listed') return keepCopy(step, { from: save.place, of: path, why: outcome.message });
  const { from, why } = fate;
  // On the hub first: a copy that is only in the folder may be changed there before it is sent.
  const copy = await sendCopy(step, { path, from, content: parcel.content });
  if (copy === undefined) return keepCopy(step, { from: save.place, of: path, why });
  step.tell({ verb: 'conflict', path, note: `an earlier save is kept as ${copy}: ${why}` });
  return true;
}

/**
 * The base of a save for which it is not known, as the loop was busy. Where the hub has the file as it stands here, the save is older
 * than that and must never take its place, so it names itself: a base that the hub does not have as current.
 */
export function baseOfOlder(
  { folder, state }: Pick<Replica, 'folder' | 'state'>,
  { path, sha256 }: Pick<Save, 'path' | 'sha256'>,
): string {
  const base = state.base.get(path)?.sha256;
  if (base === undefined) return '';
  return currentOf(folder, path) === base ? sha256 : base;
}

/** The hash of a file as it stands; undefined when it cannot be read. */
function currentOf(folder: SyncedFolder, path: FolderPath): string | undefined {
  try {
    return folder.read(path)?.sha256;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
