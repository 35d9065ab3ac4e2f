/**
 * Defines the state of a synced folder: its vault, the cursor of its pull, and the base record: for each path, the hash
 * on which both sides last agreed. store.ts changes it, state-file.ts writes it to the disk.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { limits } from '../../../limits/service.ts';
import type { SeenFile } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import type { RecentChange } from './recent.ts';

/** The SHA-256 of a file's bytes; null when there is no file. */
export type Sha = string | null;

export interface BaseRecord {
  readonly sha256: string;
  readonly executable?: boolean | undefined;
  /** Metadata of the file when it was hashed. */
  readonly seen?: SeenFile | undefined;
  /** When the hub stored this version, by the hub's clock (milliseconds since 1970). */
  readonly storedMs?: number | undefined;
  /** True when the path was excluded here at the last scan. */
  readonly isExcluded?: boolean | undefined;
}

/**
 * A record with each field, in one order: what is made from another object by `...` may get a hidden class of its own in V8, and
 * those of 50,000 records took as much memory as their contents.
 */
export function uniform({ sha256, executable, seen, storedMs, isExcluded }: BaseRecord): BaseRecord {
  return { sha256, executable, seen, storedMs, isExcluded };
}

/**
 * Why a path waits:
 * - `conflict`: both sides changed, and the user chooses.
 * - `hub`: the hub's side cannot be written here, or the path is excluded here.
 * - `push`: the hub refused the local side.
 * - `download`: the hub's side is large and not downloaded yet.
 * - `held`: the hub's side is one of very many deletes or rewrites, which the user confirms (plan/guard.ts).
 */
export type WaitKind = 'conflict' | 'hub' | 'push' | 'download' | 'held';

/** A path that differs between both sides, for a reason that an immediate retry does not fix. */
export interface Wait {
  readonly kind: WaitKind;
  /** Hashes of both sides at the last comparison. */
  readonly remote: Sha;
  readonly local: Sha;
  /** The hub's pending conflict with the local side; null when it was not sent, or the hub already has the bytes. */
  readonly conflictId: string | null;
  /** True when that conflict has an earlier local side, since the hub did not take `local`. */
  readonly isUnsent?: boolean | undefined;
  readonly reason: string;
  /** Who changed the hub's side of a conflict, and when. */
  readonly other?: OtherSide | undefined;
  /** Lines of a text that only this side of a conflict has, and only the other one. */
  readonly lines?: LinesApart | undefined;
  /** Writing it here failed, for example on a full disk: it is tried again after growing pauses. */
  readonly failed?: Failed | undefined;
}

/** What a path waits for of which neither the base nor the cursor tells any more. */
export const COMPARED_LATER: Wait = {
  kind: 'hub',
  remote: null,
  local: null,
  conflictId: null,
  reason: 'It is compared with the hub by the next sync.',
};

/** The device that changed the hub's side, and when the hub stored that (milliseconds since 1970). */
interface OtherSide {
  readonly device: string;
  readonly storedMs: number;
}

interface LinesApart {
  readonly here: number;
  readonly there: number;
}

/** How often in a row writing failed, and when last (milliseconds since 1970). */
export interface Failed {
  readonly inRow: number;
  readonly lastMs: number;
}

/** What a folder knows between two syncs. It changes only through its store (store.ts). */
export interface SyncState {
  readonly server: string;
  readonly vault_id: string;
  /** The name by which the vault was chosen last; finds it again while the hub is down. */
  readonly vault_name?: string | undefined;
  readonly device_id: string;
  /** Inode of the folder; null: unknown so far. */
  readonly inode: number | null;
  /** Cursor of the last complete pull; null: none yet. */
  readonly cursor: string | null;
  /** Changes since then made by this folder itself, which a pull leaves out. */
  readonly own: OwnRanges;
  readonly clock: Clock;
  /** Patterns of the paths synced by this device; empty: everything. */
  readonly only: readonly string[];
  /** Folders that were the mount point of another filesystem at the last scan. */
  readonly mounts: readonly string[];
  readonly base: ReadonlyMap<FolderPath, BaseRecord>;
  readonly waits: ReadonlyMap<FolderPath, Wait>;
  /** Paths on the hub that are not allowed in this folder, with the reason for the user. */
  readonly foreign: ReadonlyMap<string, string>;
  /** Hashes sent for each path since the last agreement, whether or not the hub received them. */
  readonly sent: ReadonlyMap<FolderPath, ReadonlySet<Sha>>;
  /** What changed within the window of the guard. */
  readonly recent: ReadonlyMap<FolderPath, RecentChange>;
}

/** Ranges of the hub's sequence numbers: first and last, ascending. */
export type OwnRanges = readonly (readonly [number, number])[];

/** A hybrid logical clock. */
export interface Clock {
  readonly ms: number;
  readonly counter: number;
  readonly node: string;
}

/** State of a folder before its first sync with a vault. `machine`: the name of this machine; default: its host name. */
export function newState(server: string, vaultId: string, machine?: string): SyncState {
  return {
    server,
    vault_id: vaultId,
    ...newDevice(machine),
    inode: null,
    cursor: null,
    own: [],
    only: [],
    mounts: [],
    base: new Map(),
    waits: new Map(),
    foreign: new Map(),
    sent: new Map(),
    recent: new Map(),
  };
}

/** A new device name and clock, different from those of every other folder. */
export function newDevice(machine: string = hostname()): Pick<SyncState, 'device_id' | 'clock'> {
  const node = randomBytes(8).toString('hex');
  const name = machine.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 40);
  return { device_id: `${name === '' ? 'device' : name}-${node.slice(0, 8)}`, clock: { ms: 0, counter: 0, node } };
}

/** `own` with one more change, unless there are too many ranges or a later change was noted before. */
export function withOwn(own: OwnRanges, seq: number): OwnRanges {
  const last = own.at(-1);
  if (last !== undefined && last[1] >= seq) return own;
  if (last !== undefined && last[1] === seq - 1) return [...own.slice(0, -1), [last[0], seq]];
  return own.length < limits.clientOwnRanges ? [...own, [seq, seq]] : own;
}

/** The clock after one more change (Kulkarni et al. 2014, send). */
export function ticked({ ms, counter, node }: Clock, nowMs: number): Clock {
  if (nowMs > ms) return { ms: nowMs, counter: 0, node };
  return counter >= 0xffff ? { ms: ms + 1, counter: 0, node } : { ms, counter: counter + 1, node };
}

/** A clock in the form in which a change bears it. */
export function clockText({ ms, counter, node }: Clock): string {
  return `${new Date(ms).toISOString()}-${counter.toString(16).toUpperCase().padStart(4, '0')}-${node}`;
}

/** True when a side of a conflict that the hub does not hold is what both sides agreed on: only the hub has changed. */
export function isAgreedSide({ base, waits }: Pick<SyncState, 'base' | 'waits'>, path: FolderPath, side: Sha): boolean {
  return side !== null && waits.get(path)?.conflictId === null && base.get(path)?.sha256 === side;
}

/** The hash that the hub has as the local side of a pending conflict; undefined when it has none, or it has an earlier one. */
export function sideOnHub(wait: Wait | undefined): Sha | undefined {
  return wait === undefined || wait.conflictId === null || wait.isUnsent === true ? undefined : wait.local;
}

/** A change that waits for the user's confirmation. */
export type HeldChange = 'deleted' | 'rewritten';

/** Changes of the hub that wait for the user's confirmation: a file that it deleted, or rewrote. */
export function heldFromHub({ waits }: Pick<SyncState, 'waits'>): Map<FolderPath, HeldChange> {
  const held = [...waits].filter(([, { kind }]) => kind === 'held');
  return new Map(held.map(([path, { remote }]) => [path, remote === null ? 'deleted' : 'rewritten']));
}

/** Paths waiting for the user's choice. */
export function conflictsOf({ waits }: Pick<SyncState, 'waits'>): FolderPath[] {
  return [...waits].filter(([, { kind }]) => kind === 'conflict').map(([path]) => path);
}
