/**
 * Owns what a synced folder remembers: which vault it belongs to, where its pull stands, and the base record: of each path
 * the hash on which both sides last agreed. Kept in `.cairn/state.json` inside the folder, replaced as a whole.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ClientError } from '../client-error.ts';
import { readPrivateFile, writePrivateFile } from '../private-file.ts';

/** The folder of ours inside a synced folder; never synced itself. */
export const OWN_FOLDER = '.cairn';

const baseSchema = z.object({
  sha256: z.string(),
  /** How the file looked when its hash was taken, so that it need not be read again: bytes, times in milliseconds, inode. */
  seen: z
    .object({
      bytes: z.number(),
      modifiedMs: z.number(),
      changedMs: z.number(),
      inode: z.number(),
      hashedMs: z.number(),
    })
    .optional(),
});

const conflictSchema = z.object({
  /** Null: the hub's side is a delete. */
  remote_sha256: z.string().nullable(),
  /** Null: our side is a delete. */
  local_sha256: z.string().nullable(),
  /** Under which the hub keeps our side; null: it has not been sent, or came to nothing new. */
  conflict_id: z.string().nullable(),
  /** Why it waits, in words for the user. */
  reason: z.string(),
});

const stateSchema = z.object({
  version: z.literal(1),
  server: z.string(),
  vault_id: z.string(),
  device_id: z.string(),
  /** Of the last whole pull; null: none yet. */
  cursor: z.string().nullable(),
  /** The clock of this folder's own changes. */
  clock: z.object({ ms: z.number(), counter: z.number(), node: z.string() }),
  base: z.record(z.string(), baseSchema),
  /** Paths that wait for the user's choice. */
  conflicts: z.record(z.string(), conflictSchema),
});

export type SyncState = z.infer<typeof stateSchema>;
export type BaseRecord = z.infer<typeof baseSchema>;
export type WaitingConflict = z.infer<typeof conflictSchema>;

/** What a folder remembers; undefined: it was never synced. Throws ClientError when it cannot be read. */
export function readState(folder: string): SyncState | undefined {
  const path = statePath(folder);
  const text = readPrivateFile(path);
  if (text === undefined) return undefined;
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch {
    throw new ClientError(
      `${path} is not a file of this cairn; move it away and sync again: nothing is overwritten, equal files are recognised.`,
    );
  }
}

export function writeState(folder: string, state: SyncState): void {
  writePrivateFile(statePath(folder), `${JSON.stringify(state)}\n`);
}

/** A folder that meets its vault for the first time. */
export function newState(server: string, vaultId: string): SyncState {
  const node = randomBytes(8).toString('hex');
  const host = hostname()
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .slice(0, 40);
  return {
    version: 1,
    server,
    vault_id: vaultId,
    device_id: `${host === '' ? 'device' : host}-${node.slice(0, 8)}`,
    cursor: null,
    clock: { ms: 0, counter: 0, node },
    base: {},
    conflicts: {},
  };
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

const statePath = (folder: string) => join(folder, OWN_FOLDER, 'state.json');
