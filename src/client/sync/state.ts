/**
 * Defines the state of a synced folder: its vault, the cursor of its pull, and the base record: for each path, the hash
 * on which both sides last agreed. A sync works on it in memory; state-file.ts stores it on disk.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { limits } from '../../limits/service.ts';
import type { Seen } from './folder/file.ts';
import type { FolderPath } from './folder/path.ts';

/** The SHA-256 of a file's bytes; null when there is no file. */
export type Sha = string | null;

export interface BaseRecord {
  readonly sha256: string;
  readonly executable?: boolean | undefined;
  /** Metadata of the file when it was hashed. */
  readonly seen?: Seen | undefined;
  /** When the hub stored this version, by the hub's clock (milliseconds since 1970). */
  readonly storedMs?: number | undefined;
  /** True when the path was excluded here at the last scan. */
  readonly isExcluded?: boolean | undefined;
}

/**
 * Why a path waits:
 * - `conflict`: both sides changed, and the user chooses.
 * - `hub`: the hub's side cannot be written here, or the path is excluded here.
 * - `push`: the hub refused the local side.
 * - `download`: the hub's side is large and not downloaded yet.
 */
export type WaitKind = 'conflict' | 'hub' | 'push' | 'download';

/** A path that differs between both sides, for a reason that an immediate retry does not fix. */
export interface Wait {
  readonly kind: WaitKind;
  /** Hashes of both sides at the last comparison. */
  readonly remote: Sha;
  readonly local: Sha;
  /** The hub's pending conflict with the local side; null when it was not sent, or the hub already has the bytes. */
  readonly conflictId: string | null;
  /** The reason for the user. */
  readonly reason: string;
}

export interface SyncState {
  readonly server: string;
  readonly vault_id: string;
  /** The name by which the vault was chosen last; finds it again while the hub is down. */
  vault_name?: string | undefined;
  device_id: string;
  /** Inode of the folder; null: unknown so far. */
  inode: number | null;
  /** Cursor of the last complete pull; null: none yet. */
  cursor: string | null;
  /**
   * Changes since then made by this folder itself, as ranges of the hub's sequence numbers: first and last, ascending.
   */
  own: (readonly [number, number])[];
  /** Hybrid logical clock of this folder's changes. */
  clock: { readonly ms: number; readonly counter: number; readonly node: string };
  /** Patterns of the paths synced by this device; empty: everything. */
  only: readonly string[];
  /** Folders that were the mount point of another filesystem at the last scan. */
  mounts: readonly string[];
  readonly base: Map<FolderPath, BaseRecord>;
  readonly waits: Map<FolderPath, Wait>;
  /** Paths on the hub that are not allowed in this folder, with the reason for the user. */
  readonly foreign: Map<string, string>;
  /** Hashes sent for each path since the last agreement, whether or not the hub received them. */
  readonly sent: Map<FolderPath, Set<Sha>>;
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
  };
}

/** A new device name and clock, different from those of every other folder. */
export function newDevice(machine: string = hostname()): Pick<SyncState, 'device_id' | 'clock'> {
  const node = randomBytes(8).toString('hex');
  const name = machine.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 40);
  return { device_id: `${name === '' ? 'device' : name}-${node.slice(0, 8)}`, clock: { ms: 0, counter: 0, node } };
}

/** Records that both sides are equal at a path. */
export function agree(state: SyncState, path: FolderPath, record: BaseRecord | undefined): void {
  if (record === undefined) state.base.delete(path);
  else state.base.set(path, record);
  state.waits.delete(path);
  state.sent.delete(path);
}

/** Records a change made by this folder, which the next pull then leaves out, unless there are too many ranges. */
export function noteOwn(state: SyncState, seq: number): void {
  const last = state.own.at(-1);
  if (last !== undefined && last[1] >= seq) return;
  if (last !== undefined && last[1] === seq - 1) state.own[state.own.length - 1] = [last[0], seq];
  else if (state.own.length < limits.clientOwnRanges) state.own.push([seq, seq]);
}

/**
 * Records an agreement when the hub has exactly what this folder sent and the answer was lost. The same bytes from
 * another device are that device's choice: the push from here may never have arrived.
 */
export function recallSent(
  state: SyncState,
  path: FolderPath,
  { sha256, deviceId, storedMs }: { readonly sha256: Sha; readonly deviceId: string | undefined; storedMs: number },
): void {
  if (deviceId !== state.device_id || state.sent.get(path)?.has(sha256) !== true) return;
  if (sha256 === null) state.base.delete(path);
  else if (state.base.get(path)?.sha256 !== sha256) state.base.set(path, { sha256, storedMs });
  state.sent.delete(path);
}

/** True when a side of a conflict that the hub does not hold is what both sides agreed on: only the hub has changed. */
export function isAgreedSide({ base, waits }: SyncState, path: FolderPath, side: Sha): boolean {
  return side !== null && waits.get(path)?.conflictId === null && base.get(path)?.sha256 === side;
}

/** Paths waiting for the user's choice. */
export function conflictsOf(state: SyncState): FolderPath[] {
  return [...state.waits].filter(([, { kind }]) => kind === 'conflict').map(([path]) => path);
}

/** Advances the hybrid logical clock of `state` (Kulkarni et al. 2014, send). Returns it in canonical form. */
export function tick(state: SyncState, nowMs: number): string {
  const { ms, counter, node } = state.clock;
  const isLater = nowMs > ms;
  const isFull = !isLater && counter >= 0xffff;
  state.clock = isLater
    ? { ms: nowMs, counter: 0, node }
    : { ms: isFull ? ms + 1 : ms, counter: isFull ? 0 : counter + 1, node };
  const next = state.clock;
  return `${new Date(next.ms).toISOString()}-${next.counter.toString(16).toUpperCase().padStart(4, '0')}-${node}`;
}
