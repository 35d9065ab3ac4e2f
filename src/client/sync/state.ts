/**
 * Owns what a synced folder remembers: which vault it belongs to, where its pull stands, and the base record: of each path
 * the hash on which both sides last agreed. All of it is in memory during a sync; state-file.ts keeps it on disk.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { limits } from '../../limits/service.ts';
import type { Seen } from './folder/file.ts';
import type { FolderPath } from './folder/path.ts';

/** The SHA-256 of a file's bytes; null: there is no file. */
export type Sha = string | null;

export interface BaseRecord {
  readonly sha256: string;
  readonly executable?: boolean | undefined;
  /** How the file looked when its hash was taken. */
  readonly seen?: Seen | undefined;
  /** When the hub stored this version, by its own clock (milliseconds since 1970). */
  readonly storedMs?: number | undefined;
}

/**
 * - `conflict`: both sides changed, and the user chooses.
 * - `hub`: the hub's side is not here, because the path takes no part or cannot be written.
 * - `push`: our side was refused by the hub.
 * - `download`: the hub's side is large, and still to come.
 */
export type WaitKind = 'conflict' | 'hub' | 'push' | 'download';

/** A path that is not equal on both sides, for a reason that does not go away by trying again at once. */
export interface Wait {
  readonly kind: WaitKind;
  /** Both sides when it was last looked at. */
  readonly remote: Sha;
  readonly local: Sha;
  /** Under which the hub keeps our side; null: it was not sent, or the hub has it already. */
  readonly conflictId: string | null;
  /** In words for the user. */
  readonly reason: string;
}

export interface SyncState {
  readonly server: string;
  readonly vault_id: string;
  device_id: string;
  /** The inode of the folder; null: not known yet. */
  inode: number | null;
  /** Of the last whole pull; null: none yet. */
  cursor: string | null;
  /** Changes since then that this folder made itself and agrees with, as the hub numbers them: first and last, rising. */
  own: (readonly [number, number])[];
  /** The clock of this folder's own changes. */
  clock: { readonly ms: number; readonly counter: number; readonly node: string };
  /** What this device chose to sync, as patterns; empty: everything. */
  only: readonly string[];
  /** Folders that another filesystem was mounted on when they were last looked at. */
  mounts: readonly string[];
  readonly base: Map<FolderPath, BaseRecord>;
  readonly waits: Map<FolderPath, Wait>;
  /** What the hub has under paths that are not for this folder, with the reason for the user. */
  readonly foreign: Map<string, string>;
  /** What was sent for each path since the last agreement, whether or not the hub has it. */
  readonly sent: Map<FolderPath, Set<Sha>>;
}

/** A folder that meets its vault for the first time. */
export function newState(server: string, vaultId: string): SyncState {
  return {
    server,
    vault_id: vaultId,
    ...newDevice(),
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

/** A name and a clock that no other folder has. */
export function newDevice(): Pick<SyncState, 'device_id' | 'clock'> {
  const node = randomBytes(8).toString('hex');
  const host = hostname()
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 40);
  return { device_id: `${host === '' ? 'device' : host}-${node.slice(0, 8)}`, clock: { ms: 0, counter: 0, node } };
}

/** Notes that both sides are equal at a path. */
export function agree(state: SyncState, path: FolderPath, record: BaseRecord | undefined): void {
  if (record === undefined) state.base.delete(path);
  else state.base.set(path, record);
  state.waits.delete(path);
  state.sent.delete(path);
}

/** Notes a change that this folder made and agrees with. What has no room among the ranges comes back with the next pull. */
export function noteOwn(state: SyncState, seq: number): void {
  const last = state.own.at(-1);
  if (last !== undefined && last[1] >= seq) return;
  if (last !== undefined && last[1] === seq - 1) state.own[state.own.length - 1] = [last[0], seq];
  else if (state.own.length < limits.clientOwnRanges) state.own.push([seq, seq]);
}

/**
 * Notes what the hub has where that is what this folder sent: an answer that was lost, so both sides agreed on it. The same
 * from another device is that device's choice: what was sent from here may never have arrived.
 */
export function recallSent(state: SyncState, path: FolderPath, remote: Sha, deviceId: string | undefined): void {
  if (deviceId !== state.device_id || state.sent.get(path)?.has(remote) !== true) return;
  if (remote === null) state.base.delete(path);
  else if (state.base.get(path)?.sha256 !== remote) state.base.set(path, { sha256: remote });
  state.sent.delete(path);
}

/** The paths that wait for the user's choice. */
export function conflictsOf(state: SyncState): FolderPath[] {
  return [...state.waits].filter(([, { kind }]) => kind === 'conflict').map(([path]) => path);
}

/**
 * The next value of the folder's hybrid logical clock (Kulkarni et al. 2014, send), in the canonical form. Moves the clock
 * of `state` on.
 */
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
