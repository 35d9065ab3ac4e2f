/** Applies the hub's side, path by path. A change that cannot be applied is recorded in the state with its reason. */
import { quoted } from '../../shown.ts';
import type { BaseRecord, Failed, Wait, WaitKind } from '../base/state.ts';
import { Unreadable } from '../folder/file.ts';
import type { LocalFile } from '../folder/folder.ts';
import { type FolderPath, parentsOf } from '../folder/path.ts';
import { heldKinds, type Window, windowOf } from '../plan/guard.ts';
import { afterFailure } from '../plan/waits.ts';
import type { RemoteRecord } from '../remote-record.ts';
import type { Replica } from '../replica.ts';
import { compareNext, type SyncStep } from '../round.ts';
import { RULES_FILE, readRules } from '../scan/choice.ts';
import { type Scan, withOtherRules } from '../scan/scan.ts';
import { applyRemote, isUnclear, plannedAction } from './apply.ts';
import { type Reconcile, recallFromHistory, reconcilePaths } from './reconcile.ts';
import type { Renames } from './renames.ts';
import { Spellings } from './spelling.ts';

const UNSETTLED = `It was deleted on the hub. It is removed here, or left out, once the conflict of ${RULES_FILE} is settled.`;
const HELD = 'It is one of very many changes of the hub, which wait for your confirmation.';

const RESTS =
  'A newer version is on the hub, and a program writes to the file here; they are compared once it stands still.';

interface InboxHow {
  readonly guards?: boolean;
  readonly renames?: Renames | undefined;
}

export class Inbox {
  /** Paths changed on both sides. */
  readonly bothChanged = new Set<FolderPath>();
  readonly #step: SyncStep;
  #local: Scan;
  readonly #spellings: Spellings;
  readonly #held: HeldContents;
  readonly #renames: Renames | undefined;
  /** Changes whose path was blocked; a later change may clear the path. */
  readonly #blocked = new Map<FolderPath, RemoteRecord>();
  /** Files that keep another spelling here, with what the hub has under its name. */
  readonly #kept = new Map<FolderPath, RemoteRecord>();
  /** Removes, decided together at the end; a file that was moved is new elsewhere by then. */
  readonly #removes = new Map<FolderPath, RemoteRecord>();
  /** New names that came, by the hash of the file. */
  readonly #came = new Map<string, FolderPath[]>();
  readonly #guard: Guard;
  #hasRules = false;
  /** Changes that mean nothing before the hub told what it had received, each with the name of its file here. */
  readonly #unclear = new Map<FolderPath, { readonly record: RemoteRecord; readonly here: FolderPath }>();
  /** The files about which the hub was asked. */
  readonly #asked = new Set<FolderPath>();

  /**
   * `guards`: holds back more deletes and rewrites than a person makes. `renames`: what takes the changes that may be part of
   * a rename; undefined: nothing does.
   */
  constructor(step: SyncStep, local: Scan, { guards = true, renames }: InboxHow = {}) {
    this.#step = step;
    this.#local = local;
    this.#renames = renames;
    this.#guard = new Guard(step, guards);
    this.#spellings = new Spellings(step, local);
    this.#held = new HeldContents(step, local);
  }

  take(record: RemoteRecord): void {
    const { path, side } = record;
    const { state, large } = this.#step;
    if (path === RULES_FILE) this.#hasRules = true;
    if (large.isGoing(path)) {
      // Decided after the hub has answered the upload.
      compareNext(this.#step, path);
      return;
    }
    this.bothChanged.delete(path);
    this.#blocked.delete(path);
    this.#removes.delete(path);
    this.#unclear.delete(path);
    if (this.#local.leavesOut(path)) {
      // The file left out keeps its spelling here, and the hub's may have changed since.
      const isNews = side === undefined ? this.#spellings.isAgreed(path) : side.sha256 !== state.base.get(path)?.sha256;
      if (!isNews) state.endWait(path);
      else if (state.waits.get(path)?.kind !== 'conflict') this.#wait(record, 'hub', this.#whyLeftOut(path));
    } else {
      const kept = this.#spellings.adoptFrom(path, side?.sha256);
      if (this.#asksFirst(record, kept ?? path)) return;
      if (kept !== undefined) {
        this.#applyTo(kept, record);
        return;
      }
      if (this.#renames?.takes(record, this.#local) === true) {
        // It is decided after the last page, and the cursor may have passed it by then.
        state.compareLater(path);
        return;
      }
      this.#apply(record);
    }
    this.#spellings.forgetOthers(path);
  }

  /** Asks the hub what it had received, and takes the changes that hang on it. Sends nothing. */
  async ask(): Promise<void> {
    for (const { record, here } of this.#unclear.values()) {
      await recallFromHistory(this.#step, here);
      this.#asked.add(here);
      this.take(record);
    }
  }

  #asksFirst(record: RemoteRecord, here: FolderPath): boolean {
    const local = this.#local.files.get(here);
    if (this.#asked.has(here) || !isUnclear(this.#step.state, { ...record, path: here }, local)) return false;
    this.#unclear.set(record.path, { record, here });
    return true;
  }

  /** Applies a change to the file that keeps another spelling here, which waits to be renamed. */
  #applyTo(kept: FolderPath, record: RemoteRecord): void {
    this.#kept.set(kept, record);
    this.#apply({ ...record, path: kept });
    this.#spellings.forgetOthers(kept);
    // At once: if the sync ends early, nothing else tells of it.
    this.#waitForName(kept, record);
  }

  /** Merges the paths changed on both sides. A file that keeps another spelling here waits for its name as soon as it is merged. */
  async reconcile(how: Reconcile): Promise<void> {
    for (const path of this.bothChanged) {
      await reconcilePaths(this.#step, [path], how);
      const record = this.#kept.get(path);
      if (record !== undefined) this.#waitForName(path, record);
    }
  }

  /** Notes that a file under another spelling waits for its name, if it waits for nothing else. */
  #waitForName(kept: FolderPath, record: RemoteRecord): void {
    const { state } = this.#step;
    if (!state.base.has(kept) || state.waits.has(kept)) return;
    const name = quoted(record.path);
    this.#wait({ ...record, path: kept }, 'hub', `Its name on the hub is ${name}, and it cannot be renamed here.`);
  }

  /** True when it brought removes without the shared rules, which may leave them out and have a newer change. */
  get wantsRules(): boolean {
    return this.#removes.size > 0 && !this.#hasRules;
  }

  /** Rereads the rules after a merge. */
  readRules(): void {
    const { folder, state } = this.#step;
    this.#local = withOtherRules(this.#local, readRules(folder, state.only, state.base));
  }

  /** Applies the removes, and retries the blocked changes. */
  finish(): void {
    const all = [...this.#removes.values()];
    this.#removes.clear();
    // The rules may have arrived after the removes. Until a conflict of the rules is resolved, removes wait.
    const isUnsettled = this.#step.state.waits.get(RULES_FILE)?.kind === 'conflict';
    const removes: RemoteRecord[] = [];
    for (const record of all) {
      if (this.#local.leavesOut(record.path)) this.take(record);
      else if (isUnsettled) this.#wait(record, 'hub', UNSETTLED);
      else removes.push(record);
    }
    const { lost, moved } = this.#sorted(removes);
    const isHeld = this.#guard.holdsDeletes(lost.size);
    const { state } = this.#step;
    for (const record of removes) {
      const { path } = record;
      const [to, before] = [moved.get(path), state.recent.get(path)];
      if (isHeld && lost.has(path)) this.#wait(record, 'held', HELD);
      else this.#applyNow(record);
      if (to !== undefined) state.countMove(path, to, before);
    }
    const again = [...this.#blocked.values()];
    this.#blocked.clear();
    for (const record of again) this.#applyNow(record);
    // One of those may have been applied under another spelling.
    for (const [kept, record] of this.#kept) this.#waitForName(kept, record);
  }

  #apply(record: RemoteRecord): void {
    const { path, side } = record;
    const { state } = this.#step;
    const local = this.#local.files.get(path);
    const action = plannedAction(state, record, local);
    if (action === 'remove') {
      this.#removes.set(path, record);
      return;
    }
    const isTaken = action === 'take' || action === 'fetch';
    if (isTaken && local === undefined && side !== undefined) {
      const same = this.#came.get(side.sha256);
      if (same === undefined) this.#came.set(side.sha256, [path]);
      else same.push(path);
    }
    if (isTaken && local !== undefined && this.#guard.holdsRewrite(path)) {
      this.#wait(record, 'held', HELD);
      return;
    }
    this.#applyNow(record);
  }

  /** Which of these removes are a move, with the new name, and which lose a file that the guard does not count yet. */
  #sorted(removes: readonly RemoteRecord[]) {
    const lost = new Set<FolderPath>();
    const moved = new Map<FolderPath, FolderPath>();
    for (const { path } of removes) {
      const local = this.#local.files.get(path);
      const to = local && this.#came.get(local.sha256)?.shift();
      if (to !== undefined) moved.set(path, to);
      else if (local !== undefined && !this.#step.state.recent.has(path)) lost.add(path);
    }
    return { lost, moved };
  }

  #applyNow(record: RemoteRecord): void {
    const { path, side } = record;
    const { folder } = this.#step;
    const local = this.#local.files.get(path);
    const wasTouched = folder.touched.delete(path);
    let applied = applyRemote(this.#step, record, local);
    const bytes = applied === 'to fetch' && side !== undefined ? this.#held.find(side.sha256) : undefined;
    if (side !== undefined && bytes !== undefined) {
      applied = applyRemote(this.#step, { ...record, side: { ...side, bytes } }, local);
    }
    if (applied === 'done') {
      if (path === RULES_FILE) this.readRules();
      if (folder.touched.has(path)) noteWritten(this.#step, this.#local, path);
      if (wasTouched) folder.touched.add(path);
      return;
    }
    folder.touched.add(path);
    if (applied === 'both changed') {
      this.bothChanged.add(path);
      this.#wait(record, 'conflict', 'changed on both sides');
    } else if (applied === 'to fetch') {
      this.#wait(record, 'download', 'It is still being downloaded.', this.#step.state.waits.get(path)?.failed);
      this.#step.large.downloads.set(path, record.side?.size ?? 0);
    } else {
      this.#blocked.set(path, record);
      this.#wait(record, 'hub', applied.unwritable, afterFailure(this.#step.state.waits.get(path)?.failed, Date.now()));
    }
  }

  #wait({ path, side, deviceId, storedMs }: RemoteRecord, kind: WaitKind, why: string, failed?: Failed): void {
    const before = this.#step.state.waits.get(path);
    // A download that is tried again is not news: what stood in its way may still do.
    const reason = kind === 'download' && failed !== undefined ? (before?.reason ?? why) : why;
    const conflictId = before?.conflictId ?? null;
    const here = this.#local.files.get(path)?.sha256 ?? null;
    const wait: Wait = {
      kind,
      remote: side?.sha256 ?? null,
      // A pending conflict has the side from before: the hub gets what is here since only with its answer.
      local: conflictId === null ? here : (before?.local ?? null),
      conflictId,
      ...(before?.isUnsent === true && { isUnsent: true }),
      reason,
      ...(kind === 'conflict' && deviceId !== undefined && { other: { device: deviceId, storedMs } }),
      ...(failed === undefined ? {} : { failed }),
    };
    this.#step.state.wait(path, wait);
  }

  #whyLeftOut(path: FolderPath): string {
    if (this.#local.excludes(path)) return 'It is ignored here.';
    if (this.#local.resting.has(path)) return RESTS;
    return 'A newer version is on the hub, and what has this name here cannot be synced.';
  }
}

/** Corrects a scan by what was just written or removed; the next one looks again only where that is not known. */
export function noteWritten({ folder, state, listener }: Replica, { files, folders }: Scan, path: FolderPath): void {
  const base = state.base.get(path);
  if (base === undefined) files.delete(path);
  else if (isSeen(base)) {
    files.set(path, base);
    listener?.onWritten(base.seen);
    for (const parent of parentsOf(path)) folders.add(parent);
  } else return;
  folder.touched.delete(path);
  state.trust(path);
}

function isSeen(record: BaseRecord): record is BaseRecord & LocalFile {
  return record.seen !== undefined;
}

/** Counts the deletes and rewrites that a pull brings, on top of those of a short time ago. */
class Guard {
  readonly #step: SyncStep;
  readonly #isOn: boolean;
  readonly #window: Window;
  #rewritten = 0;

  constructor(step: SyncStep, isOn: boolean) {
    const { state } = step;
    this.#step = step;
    this.#isOn = isOn && !state.isFirst;
    this.#window = windowOf(state.recent.values(), 'received', state.base.size);
  }

  holdsDeletes(deleted: number): boolean {
    const more = { deleted, rewritten: this.#rewritten };
    return this.#isOn && heldKinds(this.#window, more, this.#step.next.allows).deletes;
  }

  /** A file counts once, also when it comes back to what it was. */
  holdsRewrite(path: FolderPath): boolean {
    const { state, next } = this.#step;
    if (!this.#isOn || state.recent.has(path)) return false;
    const more = { deleted: 0, rewritten: this.#rewritten + 1 };
    if (heldKinds(this.#window, more, next.allows).rewrites) return true;
    this.#rewritten += 1;
    return false;
  }
}

/** Finds contents already in this folder under another name, so that a rename on another device needs no download. */
class HeldContents {
  readonly #folder: Replica['folder'];
  readonly #local: Scan;
  #paths: ReadonlyMap<string, FolderPath> | undefined;

  constructor({ folder }: Replica, local: Scan) {
    this.#folder = folder;
    this.#local = local;
  }

  /** The bytes with a hash, read and hashed now: from a file in place, or from one just removed or replaced. */
  find(sha256: string): Buffer | undefined {
    this.#paths ??= new Map([...this.#local.files].map(([path, file]) => [file.sha256, path]));
    const path = this.#paths.get(sha256);
    const content = (path && this.#read(path)) ?? this.#folder.asides.find(sha256);
    return content?.sha256 === sha256 ? content.bytes : undefined;
  }

  #read(path: FolderPath) {
    try {
      const content = this.#folder.read(path);
      return content?.sha256 === this.#local.files.get(path)?.sha256 ? content : undefined;
    } catch (error) {
      if (error instanceof Unreadable) return undefined;
      throw error;
    }
  }
}
