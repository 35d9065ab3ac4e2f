/** The one place that changes the state of a synced folder, in memory and on the disk. */
import { limits } from '../../../limits/service.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { NameMap, type ReadonlyNameMap } from './name-map.ts';
import { afterChange, type RecentChange } from './recent.ts';
import {
  type BaseRecord,
  type Clock,
  COMPARED_LATER,
  clockText,
  newDevice,
  type OwnRanges,
  type Sha,
  type SyncState,
  ticked,
  uniform,
  type Wait,
  withOwn,
} from './state.ts';
import { appendChanges, readState, type Stored, storedOf, writeState } from './state-file.ts';
import type { OwnedState, StateChanges, StateHead } from './state-form.ts';

/** Keys whose records were changed since they were last written. */
class Unwritten {
  readonly base = new Set<FolderPath>();
  readonly waits = new Set<FolderPath>();
  readonly foreign = new Set<string>();
  readonly sent = new Set<FolderPath>();
  readonly recent = new Set<FolderPath>();

  get isEmpty(): boolean {
    return this.#all().every((keys) => keys.size === 0);
  }

  clear(): void {
    for (const keys of this.#all()) keys.clear();
  }

  #all(): readonly Set<string>[] {
    return [this.base, this.waits, this.foreign, this.sent, this.recent];
  }
}

export class StateStore implements SyncState {
  readonly #folder: SyncedFolder;
  #state: OwnedState;
  #stored: Stored;
  /** The head as it is stored. */
  #head: Partial<StateHead> = {};
  readonly #unwritten = new Unwritten();
  readonly #unsure = new Set<FolderPath>();
  /** None of the counted changes is older (milliseconds since 1970). */
  #oldestMs = Number.NEGATIVE_INFINITY;
  #savedMs = Date.now();
  #isFirst = false;

  /** `state`: what was read from the disk, or a new one. */
  constructor(folder: SyncedFolder, state: SyncState) {
    this.#folder = folder;
    this.#stored = storedOf(folder.root.path);
    this.#state = ownCopy(state);
  }

  get server(): string {
    return this.#state.server;
  }
  get vault_id(): string {
    return this.#state.vault_id;
  }
  get vault_name(): string | undefined {
    return this.#state.vault_name;
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
  get base(): ReadonlyNameMap<BaseRecord> {
    return this.#state.base;
  }
  get waits(): ReadonlyNameMap<Wait> {
    return this.#state.waits;
  }
  get foreign(): ReadonlyMap<string, string> {
    return this.#state.foreign;
  }
  get sent(): ReadonlyMap<FolderPath, ReadonlySet<Sha>> {
    return this.#state.sent;
  }
  get recent(): ReadonlyMap<FolderPath, RecentChange> {
    return this.#state.recent;
  }

  /** True while a folder is synced for the first time: its files count as there before, and nothing is held back. */
  get isFirst(): boolean {
    return this.#isFirst;
  }

  beginSync(): void {
    this.#isFirst = this.cursor === null;
  }

  /** Counts a change of a file for the guard. */
  noteRecent(path: FolderPath, what: RecentChange['what'], way: RecentChange['way']): void {
    if (this.#isFirst) return;
    const before = this.recent.get(path);
    const after = afterChange(before, { what, way, atMs: Date.now() });
    if (after === before) return;
    if (after === undefined) this.#state.recent.delete(path);
    else this.#count(path, after);
    this.#unwritten.recent.add(path);
  }

  /** A file that moved is neither new nor lost: what was known of it before the move is known of its new name. */
  countMove(from: FolderPath, to: FolderPath, before: RecentChange | undefined): void {
    if (this.#isFirst) return;
    this.#state.recent.delete(from);
    if (before === undefined) this.#state.recent.delete(to);
    else this.#count(to, before);
    this.#unwritten.recent.add(from).add(to);
  }

  #count(path: FolderPath, change: RecentChange): void {
    this.#state.recent.set(path, change);
    this.#oldestMs = Math.min(this.#oldestMs, change.atMs);
  }

  /** Forgets the counted changes that are over. Looks at each only when the oldest one is. */
  forgetOver(isOver: (change: Pick<RecentChange, 'atMs'>) => boolean): void {
    if (!isOver({ atMs: this.#oldestMs })) return;
    this.forgetRecent(isOver);
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const { atMs } of this.recent.values()) oldestMs = Math.min(oldestMs, atMs);
    this.#oldestMs = oldestMs;
  }

  /** Forgets counted changes. */
  forgetRecent(isForgotten: (change: RecentChange) => boolean): void {
    for (const [path, change] of this.recent) {
      if (!isForgotten(change)) continue;
      this.#state.recent.delete(path);
      this.#unwritten.recent.add(path);
    }
  }

  /** Paths whose file or base record changed since both were last found equal. A plan looks at no others. */
  get unsure(): ReadonlySet<FolderPath> {
    return this.#unsure;
  }

  /** Notes that the file of a path may differ from its base record. */
  doubt(path: FolderPath): void {
    this.#unsure.add(path);
  }

  /** Notes that the file of a path is as its base record says. */
  trust(path: FolderPath): void {
    this.#unsure.delete(path);
  }

  /** Records that both sides are equal at a path; undefined: neither has a file there. */
  agree(path: FolderPath, record: BaseRecord | undefined): void {
    this.setBase(path, record);
    this.endWait(path);
    this.forgetSent(path);
  }

  /** Sets the base record alone; undefined forgets it. */
  setBase(path: FolderPath, record: BaseRecord | undefined): void {
    if (record === undefined) this.#state.base.delete(path);
    else this.#state.base.set(path, uniform(record));
    this.#unwritten.base.add(path);
    this.#unsure.add(path);
  }

  wait(path: FolderPath, wait: Wait): void {
    this.#state.waits.set(path, wait);
    this.#unwritten.waits.add(path);
  }

  /**
   * Has a path compared with the hub whatever the cursor says, by this process or a later one: the base or the cursor tells nothing
   * of it any more. What waits of it for another reason, and is compared anyway, stays as it is.
   */
  compareLater(path: FolderPath): void {
    const kind = this.#state.waits.get(path)?.kind;
    if (kind === undefined || kind === 'push') this.wait(path, COMPARED_LATER);
  }

  endWait(path: FolderPath): void {
    if (!this.#state.waits.delete(path)) return;
    this.#unwritten.waits.add(path);
    this.#unsure.add(path);
  }

  forgetSent(path: FolderPath): void {
    if (this.#state.sent.delete(path)) this.#unwritten.sent.add(path);
  }

  /** Moves all records of a path to another spelling, unless that has records of its own. */
  respell(from: FolderPath, to: FolderPath): void {
    for (const kind of ['base', 'waits', 'sent'] as const) {
      if (!moveRecord<unknown>(this.#state[kind], from, to)) continue;
      for (const path of [from, to]) this.#unwritten[kind].add(path);
    }
    for (const path of [from, to]) this.#unsure.add(path);
  }

  /** Notes a path of the hub that is not allowed in this folder; without a reason, it is gone. */
  noteForeign(path: string, reason: string | undefined): void {
    if (reason === this.#state.foreign.get(path)) return;
    if (reason === undefined) this.#state.foreign.delete(path);
    else this.#state.foreign.set(path, reason);
    this.#unwritten.foreign.add(path);
  }

  forgetForeign(): void {
    for (const path of this.foreign.keys()) this.noteForeign(path, undefined);
  }

  /**
   * Records an agreement when the hub has exactly what this folder sent and the answer was lost. The same bytes from
   * another device are that device's choice: the push from here may never have arrived.
   */
  recallSent(path: FolderPath, { sha256, deviceId, storedMs }: Arrived): void {
    if (deviceId !== this.device_id || this.#state.sent.get(path)?.has(sha256) !== true) return;
    if (sha256 === null) this.setBase(path, undefined);
    else if (this.#state.base.get(path)?.sha256 !== sha256) this.setBase(path, { sha256, storedMs });
    this.forgetSent(path);
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
    const rows = [...new Set(sent.map(([path]) => path))].map((path) => [path, this.sent.get(path) ?? []] as const);
    this.#append({ sent: rows });
  }

  /** Records that both sides agree on a hash, in case this process ends before the state is written. Throws RootGone. */
  rememberAgreed(path: FolderPath, sha256: string): void {
    this.agree(path, { sha256 });
    this.#append({ base: [[path, { sha256 }]], waits: [[path, null]], sent: [[path, null]] });
  }

  /** Reads the state again if another process wrote it. Returns whether it did. Throws ClientError. */
  refresh(): boolean {
    const { path } = this.#folder.root;
    const stored = storedOf(path);
    if (stored.stamp === this.#stored.stamp) return false;
    const state = readState(path);
    this.#stored = stored;
    if (state === undefined) return false;
    this.#state = ownCopy(state);
    this.#oldestMs = Number.NEGATIVE_INFINITY;
    this.#head = {};
    this.#unwritten.clear();
    this.#unsure.clear();
    return true;
  }

  /** Writes what changed to the disk, after flushing every file it refers to. Throws RootGone, ClientError. */
  async save(): Promise<void> {
    await this.#folder.settle();
    this.#folder.root.check();
    const { records, bytes, whole, stamp } = this.#stored;
    const isOutgrown = bytes > 2 * whole + limits.clientRecordsBytes;
    if (records === undefined || isOutgrown || stamp !== storedOf(this.#folder.root.path).stamp) this.#writeAll();
    else {
      const head = this.#changedHead();
      if (!this.#unwritten.isEmpty || Object.keys(head).length > 0) {
        const { base, waits, foreign, sent, recent } = this.#state;
        this.#append({
          ...(Object.keys(head).length > 0 && { head }),
          ...rowsOf('base', base, this.#unwritten.base),
          ...rowsOf('waits', waits, this.#unwritten.waits),
          ...rowsOf('foreign', foreign, this.#unwritten.foreign),
          ...rowsOf('sent', sent, this.#unwritten.sent),
          ...rowsOf('recent', recent, this.#unwritten.recent),
        });
        this.#unwritten.clear();
        this.#head = this.#headNow();
      }
    }
    this.#savedMs = Date.now();
  }

  /** Saves if the last save was long ago, so that a crash costs little work. */
  async saveSometimes(): Promise<void> {
    if (Date.now() - this.#savedMs > limits.clientSaveMs) await this.save();
  }

  /** Adds a line to what is stored; the whole state where nothing is stored yet. */
  #append(changes: StateChanges): void {
    const isOwn = this.#stored.stamp === storedOf(this.#folder.root.path).stamp;
    if (!appendChanges(this.#folder, changes)) this.#writeAll();
    // What another process wrote is read first, by the next sync.
    else if (isOwn) this.#stored = storedOf(this.#folder.root.path);
  }

  #writeAll(): void {
    this.#stored = writeState(this.#folder, this.#state);
    this.#unwritten.clear();
    this.#head = this.#headNow();
  }

  #headNow(): StateHead {
    const { base: _base, waits: _waits, foreign: _foreign, sent: _sent, recent: _recent, ...head } = this.#state;
    return head;
  }

  /** The parts of the head that are stored otherwise. */
  #changedHead(): Partial<StateHead> {
    const names = Object.keys(this.#headNow()) as (keyof StateHead)[];
    const isOther = (name: keyof StateHead) => JSON.stringify(this.#head[name]) !== JSON.stringify(this.#state[name]);
    return Object.fromEntries(names.filter(isOther).map((name) => [name, this.#state[name]]));
  }

  #set(some: Partial<StateHead>): void {
    this.#state = { ...this.#state, ...some };
  }
}

function rowsOf<K extends string, T>(name: string, records: ReadonlyMap<K, T>, keys: ReadonlySet<K>) {
  return keys.size === 0 ? {} : { [name]: [...keys].map((key) => [key, records.get(key) ?? null] as const) };
}

function ownCopy({ base, waits, foreign, sent, recent, ...head }: SyncState): OwnedState {
  return {
    ...head,
    base: base instanceof NameMap ? base : new NameMap(base),
    waits: waits instanceof NameMap ? waits : new NameMap(waits),
    foreign: new Map(foreign),
    sent: new Map(sent),
    recent: new Map(recent),
  };
}

/** What the hub has at a path, and who sent it. */
interface Arrived {
  readonly sha256: Sha;
  readonly deviceId: string | undefined;
  readonly storedMs: number;
}

function moveRecord<T>(records: Map<FolderPath, T>, from: FolderPath, to: FolderPath): boolean {
  const moved = records.get(from);
  if (moved === undefined || records.has(to)) return false;
  records.set(to, moved);
  records.delete(from);
  return true;
}
