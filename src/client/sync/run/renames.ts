/**
 * Lets edits follow renames: a file that one side renamed and the other edited becomes one file under its new name. The
 * record of the agreement moves to that name; what differs from it there is merged like any other edit.
 */
import { z } from 'zod';
import { limits } from '../../../limits/service.ts';
import { ToolRefused } from '../../tool-refused.ts';
import type { BaseRecord } from '../base/state.ts';
import { isWhole, Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import { Unwritable } from '../folder/unwritable.ts';
import { decidePull } from '../plan/decide.ts';
import { movedHere } from '../plan/push-plan.ts';
import { type Arrival, pairRenames } from '../plan/renames.ts';
import { type RemoteRecord, readAs } from '../remote-record.ts';
import type { SyncStep } from '../round.ts';
import type { Scan } from '../scan/scan.ts';
import { moveCall } from './arguments.ts';
import { type Reconcile, reconcilePaths } from './reconcile.ts';

const conflictsSchema = z.object({ conflicts: z.array(z.object({ conflict_id: z.string(), device_id: z.string() })) });

/** A file renamed here: its former name, and what both sides agreed on under it. */
interface Moved {
  readonly from: FolderPath;
  readonly to: FolderPath;
  readonly base: BaseRecord;
}

/** The renames that one pull meets. */
export class Renames {
  readonly #step: SyncStep;
  readonly #how: Reconcile;
  /** A folder that was never synced has nothing that could have been renamed, and its first pull brings everything. */
  readonly #isFirst: boolean;
  /** Edited here and gone on the hub, until it is known whether they were renamed there. */
  readonly #gone = new Map<FolderPath, RemoteRecord>();
  /** New on the hub. */
  readonly #arrivals = new Map<FolderPath, Arrival>();
  /** Renamed here and edited on the hub, by their former names. */
  readonly #edited = new Map<FolderPath, Moved & { readonly record: RemoteRecord }>();
  /** Renamed here and gone on the hub, by their new names: both sides may have renamed them alike. */
  readonly #alike = new Map<FolderPath, Moved>();
  /** New on the hub under names that files renamed here have: their changes, by name. */
  readonly #unclear = new Map<FolderPath, RemoteRecord>();
  /** The files renamed here: former name to new name. */
  #here: ReadonlyMap<FolderPath, FolderPath> | undefined;

  constructor(step: SyncStep, how: Reconcile) {
    this.#step = step;
    this.#how = how;
    this.#isFirst = step.state.cursor === null;
  }

  /** True when a change may be part of a rename: `send` or `finish` decides about it. */
  takes(record: RemoteRecord, local: Scan): boolean {
    const { path, side, deviceId, storedMs } = record;
    const { state, large } = this.#step;
    state.recallSent(path, { sha256: side?.sha256 ?? null, deviceId, storedMs });
    for (const known of [this.#gone, this.#edited, this.#unclear]) known.delete(path);
    const here = local.files.get(path);
    const base = state.base.get(path);
    if (base === undefined) {
      return side !== undefined && this.#arrive(record, side, local);
    }
    const action = decidePull(here?.sha256, side?.sha256, base.sha256);
    if (action === 'keep') {
      this.#gone.set(path, record);
      return true;
    }
    const to = here === undefined ? this.#newNameOf(path, local) : undefined;
    if (to === undefined || large.isGoing(to)) return false;
    const moved = { from: path, to, base };
    if (side === undefined) this.#alike.set(to, moved);
    if (action !== 'revive' || this.#how === 'leave') return false;
    this.#edited.set(path, { ...moved, record });
    return true;
  }

  /**
   * Renames on the hub what was renamed here and edited there, without bytes; the edit then arrives under the new name.
   * Returns the changes that the hub did not let follow.
   */
  async send(): Promise<RemoteRecord[]> {
    const { hub, next, tell } = this.#step;
    const moves = [...this.#edited.values()];
    const refused: RemoteRecord[] = [];
    for (let at = 0; at < moves.length; at += limits.clientPushFiles) {
      const some = moves.slice(at, at + limits.clientPushFiles);
      // Not recorded as sent: the file here does not have these bytes. If the answer is lost, the next pull finds a file
      // that both sides renamed alike.
      const outcomes = await hub.push(
        some.map(({ record: { side }, ...names }) => {
          const look = { executable: undefined, modifiedMs: side?.modifiedMs ?? Date.now() };
          return moveCall(this.#step, names, look, side?.sha256 ?? '');
        }),
      );
      for (const [index, { record, ...moved }] of some.entries()) {
        const { from, to } = moved;
        this.#edited.delete(from);
        if (outcomes[index] instanceof ToolRefused) {
          refused.push(record);
          continue;
        }
        this.#follow(moved);
        next.unmovable.delete(to);
        next.recheck.add(to);
        tell({ verb: 'renamed', path: to, note: `it was ${from}; an edit of it elsewhere follows` });
      }
    }
    return refused;
  }

  /**
   * Renames here what was edited here and renamed on the hub, and merges what the hub has under the new name. Returns the
   * changes that belong to no rename.
   */
  async finish(local: Scan): Promise<RemoteRecord[]> {
    const rest: RemoteRecord[] = [];
    const both: FolderPath[] = [];
    for (const [path, record] of this.#unclear) {
      const alike = this.#alike.get(path);
      if (alike !== undefined && (await this.#step.hub.hasVersion(path, alike.base.sha256))) this.#follow(alike);
      rest.push(record);
    }
    this.#unclear.clear();
    const pairs = this.#gone.size === 0 ? new Map<FolderPath, FolderPath>() : await this.#pairs();
    for (const [former, record] of this.#gone) {
      const arrival = this.#arrivals.get(pairs.get(former) ?? former);
      const base = this.#step.state.base.get(former);
      if (arrival === undefined || base === undefined || !this.#moveHere(local, former, arrival)) {
        rest.push(record);
        continue;
      }
      const { path: to, sha256: remote } = arrival;
      this.#follow({ from: former, to, base });
      const mine = local.files.get(to)?.sha256 ?? null;
      if (remote !== base.sha256) {
        const reason = 'changed on both sides';
        this.#step.state.wait(to, { kind: 'conflict', remote, local: mine, conflictId: null, reason });
        both.push(to);
      }
      this.#step.tell({ verb: 'renamed', path: to, note: `it was ${former}; the edit here follows` });
      if (this.#how === 'merge') await this.#dismissOwn(former);
    }
    this.#gone.clear();
    await reconcilePaths(this.#step, both, this.#how);
    return rest;
  }

  /** What was not finished is compared again by the next sync. */
  leave(): void {
    for (const path of [...this.#gone.keys(), ...this.#edited.keys(), ...this.#unclear.keys()])
      this.#step.next.due.add(path);
  }

  #newNameOf(path: FolderPath, local: Scan): FolderPath | undefined {
    const { state, folder } = this.#step;
    this.#here ??= movedHere(local, state, (one) => folder.isReplaced(one), state.unsure);
    return this.#here.get(path);
  }

  /** Notes a new file of the hub. True when only the hub knows whether it is the file renamed here. */
  #arrive(record: RemoteRecord, { sha256, size }: NonNullable<RemoteRecord['side']>, local: Scan): boolean {
    const { path, from } = record;
    const here = local.files.get(path);
    const alike = this.#alike.get(path);
    if (here === undefined && !this.#isFirst) this.#arrivals.set(path, { path, sha256, bytes: size, from });
    if (alike === undefined || here?.sha256 !== alike.base.sha256) return false;
    if (alike.from === from) this.#follow(alike);
    else this.#unclear.set(path, record);
    return alike.from !== from;
  }

  /** The agreement about a file moves to its new name. */
  #follow({ from, to, base: { sha256, executable } }: Moved): void {
    const { state, large } = this.#step;
    state.agree(from, undefined);
    state.agree(to, { sha256, executable });
    large.downloads.delete(to);
  }

  /** Former name to new name, after asking the hub where bytes alone do not tell. */
  async #pairs(): Promise<Map<FolderPath, FolderPath>> {
    const { hub, state } = this.#step;
    const agreedAt = (path: FolderPath) => state.base.get(path)?.sha256 ?? '';
    const gone = [...this.#gone.keys()].map((path) => ({ path, agreed: agreedAt(path) }));
    const { sure, asks } = pairRenames(gone, [...this.#arrivals.values()]);
    const pairs = new Map(sure);
    const taken = new Set(sure.values());
    for (const [former, candidates] of asks) {
      for (const to of candidates) {
        if (taken.has(to) || !(await hub.hasVersion(to, agreedAt(former)))) continue;
        pairs.set(former, to);
        taken.add(to);
        break;
      }
    }
    return pairs;
  }

  /** Gives the edited file its new name here, in place of what the hub brought. False when something else is there. */
  #moveHere(local: Scan, former: FolderPath, { path: to, sha256 }: Arrival): boolean {
    const { folder } = this.#step;
    const there = local.files.get(to);
    if (there !== undefined && there.sha256 !== sha256) return false;
    try {
      const mine = folder.read(former);
      // A large one is moved, if nothing has the name yet.
      if (!isWhole(mine)) return mine !== undefined && there === undefined && this.#moveLarge(local, former, to);
      const written = folder.put(to, mine.bytes, there?.sha256, mine);
      if (written === false) return false;
      folder.remove(former, mine.sha256);
      local.files.delete(former);
      local.files.set(to, written);
      return true;
    } catch (error) {
      if (error instanceof Unreadable || error instanceof Unwritable) return false;
      throw error;
    }
  }

  #moveLarge({ files }: Scan, former: FolderPath, to: FolderPath): boolean {
    const { folder } = this.#step;
    if (!folder.isAbsent(to) || !folder.rename(former, to)) return false;
    const moved = folder.look(to);
    files.delete(former);
    if (moved !== undefined) files.set(to, moved);
    return true;
  }

  /** Settles what the hub kept of this device's edit under the former name: the edit is sent under the new one. */
  async #dismissOwn(former: FolderPath): Promise<void> {
    const { hub, state } = this.#step;
    const { structured } = await hub.call('sync_pending_conflicts', { path: former });
    for (const { conflict_id: id, device_id: device } of readAs(conflictsSchema, structured).conflicts) {
      if (device === state.device_id) await hub.dismiss(id);
    }
  }
}
