/** The one place that changes the state of a synced folder, in memory and on the disk. */
import { limits } from '../../../limits/service.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import {
  type BaseRecord,
  type Clock,
  clockText,
  newDevice,
  type OwnRanges,
  type Sha,
  type SyncState,
  ticked,
  type Wait,
  withOwn,
} from './state.ts';
import { appendJournal, readState, type Stored, stampOf, writeState } from './state-file.ts';

interface OwnedMaps {
  readonly base: Map<FolderPath, BaseRecord>;
  readonly waits: Map<FolderPath, Wait>;
  readonly foreign: Map<string, string>;
  readonly sent: Map<FolderPath, ReadonlySet<Sha>>;
}
type OwnedState = SyncState & OwnedMaps;

export class StateStore implements SyncState {
  readonly #folder: SyncedFolder;
  #state: OwnedState;
  #stored: Stored;
  #savedMs = Date.now();

  /** `state`: what was read from the disk, or a new one. */
  constructor(folder: SyncedFolder, state: SyncState) {
    this.#folder = folder;
    this.#stored = { stamp: stampOf(folder.root.path) };
    this.#state = ownCopy(state);
  }

  get server(): string {
    return this.#state.server;
  }
  get vault_id(): string {
    return this.#state.vault_id;
  }
  get device_id(): string {
    return this.#state.device_id;
  }
  get inode(): number | null {
    return this.#state.inode;
  }
  get cursor(): string | null {
    return this.#state.cursor;
  }
  get own(): OwnRanges {
    return this.#state.own;
  }
  get clock(): Clock {
    return this.#state.clock;
  }
  get only(): readonly string[] {
    return this.#state.only;
  }
  get mounts(): readonly string[] {
    return this.#state.mounts;
  }
  get base(): ReadonlyMap<FolderPath, BaseRecord> {
    return this.#state.base;
  }
  get waits(): ReadonlyMap<FolderPath, Wait> {
    return this.#state.waits;
  }
  get foreign(): ReadonlyMap<string, string> {
    return this.#state.foreign;
  }
  get sent(): ReadonlyMap<FolderPath, ReadonlySet<Sha>> {
    return this.#state.sent;
  }

  /** Records that both sides are equal at a path; undefined: neither has a file there. */
  agree(path: FolderPath, record: BaseRecord | undefined): void {
    this.setBase(path, record);
    this.#state.waits.delete(path);
    this.#state.sent.delete(path);
  }

  /** Sets the base record alone; undefined forgets it. */
  setBase(path: FolderPath, record: BaseRecord | undefined): void {
    if (record === undefined) this.#state.base.delete(path);
    else this.#state.base.set(path, record);
  }

  wait(path: FolderPath, wait: Wait): void {
    this.#state.waits.set(path, wait);
  }

  endWait(path: FolderPath): void {
    this.#state.waits.delete(path);
  }

  forgetSent(path: FolderPath): void {
    this.#state.sent.delete(path);
  }

  /** Moves all records of a path to another spelling, unless that has records of its own. */
  respell(from: FolderPath, to: FolderPath): void {
    for (const records of [this.#state.base, this.#state.waits, this.#state.sent])
      moveRecord<unknown>(records, from, to);
  }

  /** Notes a path of the hub that is not allowed in this folder; without a reason, it is gone. */
  noteForeign(path: string, reason: string | undefined): void {
    if (reason === undefined) this.#state.foreign.delete(path);
    else this.#state.foreign.set(path, reason);
  }

  forgetForeign(): void {
    this.#state.foreign.clear();
  }

  /**
   * Records an agreement when the hub has exactly what this folder sent and the answer was lost. The same bytes from
   * another device are that device's choice: the push from here may never have arrived.
   */
  recallSent(path: FolderPath, { sha256, deviceId, storedMs }: Arrived): void {
    if (deviceId !== this.device_id || this.#state.sent.get(path)?.has(sha256) !== true) return;
    if (sha256 === null) this.#state.base.delete(path);
    else if (this.#state.base.get(path)?.sha256 !== sha256) this.#state.base.set(path, { sha256, storedMs });
    this.#state.sent.delete(path);
  }

  /** Records a change made by this folder, which the next pull leaves out. */
  noteOwn(seq: number): void {
    this.#set({ own: withOwn(this.own, seq) });
  }

  /** Where the next pull continues; leaves out the own changes that came before. */
  pulledTo(cursor: string | null, own: OwnRanges = this.own): void {
    this.#set({ cursor, own });
  }

  /** Advances the clock. Returns it as a change bears it. */
  tick(nowMs: number): string {
    this.#set({ clock: ticked(this.clock, nowMs) });
    return clockText(this.clock);
  }

  /** Goes on as another device: the folder is a copy of another one. */
  becomeNewDevice(): void {
    this.#set(newDevice());
  }

  setInode(inode: number): void {
    this.#set({ inode });
  }

  setMounts(mounts: readonly string[]): void {
    this.#set({ mounts });
  }

  /** Records pushes before they are sent, since an answer may be lost and this process may end. Throws RootGone. */
  rememberSent(sent: readonly (readonly [FolderPath, Sha])[]): void {
    if (sent.length === 0) return;
    for (const [path, sha] of sent) this.#state.sent.set(path, new Set([...(this.sent.get(path) ?? []), sha]));
    appendJournal(this.#folder, sent);
  }

  /** Records that both sides agree on a hash, in case this process ends before the state is written. Throws RootGone. */
  rememberAgreed(path: FolderPath, sha256: string): void {
    this.agree(path, { sha256 });
    appendJournal(this.#folder, [[path, sha256, 'agreed']]);
  }

  /** Reads the state again if another process wrote it. Throws ClientError. */
  refresh(): void {
    const { path } = this.#folder.root;
    const stamp = stampOf(path);
    if (stamp === this.#stored.stamp) return;
    const state = readState(path);
    this.#stored = { stamp };
    if (state !== undefined) this.#state = ownCopy(state);
  }

  /** Writes the state to the disk, after flushing every file it refers to. Throws RootGone, ClientError. */
  async save(): Promise<void> {
    await this.#folder.settle();
    this.#stored = writeState(this.#folder, this.#state, this.#stored);
    this.#savedMs = Date.now();
  }

  /** Saves if the last save was long ago, so that a crash costs little work. */
  async saveSometimes(): Promise<void> {
    if (Date.now() - this.#savedMs > limits.clientSaveMs) await this.save();
  }

  #set(some: Partial<Omit<SyncState, keyof OwnedMaps>>): void {
    this.#state = { ...this.#state, ...some };
  }
}

function ownCopy({ base, waits, foreign, sent, ...head }: SyncState): OwnedState {
  return { ...head, base: new Map(base), waits: new Map(waits), foreign: new Map(foreign), sent: new Map(sent) };
}

/** What the hub has at a path, and who sent it. */
interface Arrived {
  readonly sha256: Sha;
  readonly deviceId: string | undefined;
  readonly storedMs: number;
}

function moveRecord<T>(records: Map<FolderPath, T>, from: FolderPath, to: FolderPath): void {
  const moved = records.get(from);
  if (moved === undefined || records.has(to)) return;
  records.set(to, moved);
  records.delete(from);
}
