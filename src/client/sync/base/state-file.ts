/**
 * Stores the state of a folder: `.cairn/state.json`, replaced atomically, and a journal of pushes and agreements since.
 * Maps are stored as lists of pairs, so that a file may have any name (even `__proto__`).
 */
import { closeSync, existsSync, fsyncSync, openSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ClientError } from '../../client-error.ts';
import { readPrivateFile, writePrivateFile } from '../../private-file.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import { checkFolderPath, type FolderPath, isBad, OWN_FOLDER } from '../folder/path.ts';
import type { Sha, SyncState } from './state.ts';

const shaSchema = z.string().nullable();
const seenSchema = z.object({
  bytes: z.number(),
  modifiedMs: z.number(),
  changedMs: z.number(),
  inode: z.number(),
  hashedMs: z.number(),
});
const baseSchema = z.object({
  sha256: z.string(),
  executable: z.boolean().optional(),
  seen: seenSchema.optional(),
  storedMs: z.number().optional(),
  isExcluded: z.boolean().optional(),
});
const waitSchema = z.object({
  kind: z.enum(['conflict', 'hub', 'push', 'download']),
  remote: shaSchema,
  local: shaSchema,
  conflictId: z.string().nullable(),
  reason: z.string(),
  failed: z.object({ inRow: z.number(), lastMs: z.number() }).optional(),
});
const headSchema = z.object({
  server: z.string(),
  vault_id: z.string(),
  device_id: z.string(),
  cursor: z.string().nullable(),
  clock: z.object({ ms: z.number(), counter: z.number(), node: z.string() }),
});
const stateSchema = headSchema.extend({
  version: z.literal(2),
  vault_name: z.string().optional(),
  inode: z.number().nullable(),
  only: z.array(z.string()),
  own: z.array(z.tuple([z.number(), z.number()])).default([]),
  mounts: z.array(z.string()).default([]),
  foreign: z.array(z.tuple([z.string(), z.string()])).default([]),
  base: z.array(z.tuple([z.string(), baseSchema])),
  waits: z.array(z.tuple([z.string(), waitSchema])),
  sent: z.array(z.tuple([z.string(), z.array(shaSchema)])),
});
/** Version 1, from before paths could have any name. */
const firstSchema = headSchema.extend({ version: z.literal(1), base: z.record(z.string(), baseSchema) });
const journalSchema = z.union([
  z.tuple([z.string(), shaSchema]),
  z.tuple([z.string(), z.string(), z.literal('agreed')]),
]);

/** The server and the vault come first in a state. */
const HEAD_BYTES = 4096;
const statePath = (folder: string) => join(folder, OWN_FOLDER, 'state.json');
const journalPath = (folder: string) => join(folder, OWN_FOLDER, 'sent.jsonl');

/** The synced folder at or above a folder; undefined when there is none. */
export function syncedAround(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(statePath(at))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** The vault of a synced folder, from the beginning of its state; undefined when there is none. */
export function vaultOfFolder(folder: string): string | undefined {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const descriptor = openSync(statePath(folder), 'r');
    try {
      readSync(descriptor, head);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Never synced, or another user's.
    return undefined;
  }
  return /"vault_id":"([^"]+)"/.exec(head.toString('utf8'))?.[1];
}

/** Reads the state of a folder; undefined when it was never synced. Throws ClientError when it is damaged. */
export function readState(folder: string): SyncState | undefined {
  const path = statePath(folder);
  const text = readPrivateFile(path, { hasSecrets: false });
  if (text === undefined) return undefined;
  try {
    return withJournal(parse(JSON.parse(text)), readJournal(folder));
  } catch {
    throw new ClientError(
      `${path} is damaged. Move it away and sync again: equal files are recognised, and nothing is overwritten.`,
    );
  }
}

/** Stamp of the stored state, which changes with each write of any process. Undefined when there is no state. */
export function stampOf(folder: string): string | undefined {
  const stats = statSync(statePath(folder), { throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

/** The stored state: its text, when this process wrote it, and the stamp of the file. */
export interface Stored {
  readonly text?: string;
  readonly stamp: string | undefined;
}

/**
 * Writes the state so that it survives a power failure, unless `before` says that it is stored like this already. Throws
 * RootGone, ClientError.
 */
export function writeState(folder: SyncedFolder, state: SyncState, before?: Stored): Stored {
  const { base, waits, foreign, sent, ...head } = state;
  const document = {
    version: 2,
    ...head,
    base: [...base],
    waits: [...waits],
    foreign: [...foreign],
    sent: [...sent].map(([path, shas]) => [path, [...shas]]),
  };
  const text = `${JSON.stringify(document)}\n`;
  const { path: root } = folder.root;
  folder.root.check();
  if (before?.text !== text || before.stamp === undefined || before.stamp !== stampOf(root)) {
    // The folder may be moved away in this moment, and must not be made in its place.
    writePrivateFile(statePath(root), text, { makesFolder: false });
  }
  rmSync(journalPath(root), { force: true });
  return { text, stamp: stampOf(root) };
}

/** The hash sent for a path; with a third element, the hash on which both sides now agree. */
export type JournalEntry = readonly [path: FolderPath, sha256: Sha, isAgreed?: 'agreed'];

/** Adds entries to the journal so that they survive a power failure. Throws RootGone. */
export function appendJournal(folder: SyncedFolder, entries: readonly JournalEntry[]): void {
  folder.root.check();
  const descriptor = openSync(journalPath(folder.root.path), 'a', 0o600);
  try {
    // The line break before them ends a line that was cut off. Unlike writeSync, this writes all bytes.
    writeFileSync(descriptor, `\n${entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')}`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A state with what was sent and agreed on after it was written. */
function withJournal(state: SyncState, entries: readonly JournalEntry[]): SyncState {
  const [base, waits] = [new Map(state.base), new Map(state.waits)];
  const sent = new Map<FolderPath, ReadonlySet<Sha>>(state.sent);
  for (const [path, sha, isAgreed] of entries) {
    if (isAgreed && sha !== null) {
      base.set(path, { sha256: sha });
      for (const records of [waits, sent]) records.delete(path);
    } else sent.set(path, new Set([...(sent.get(path) ?? []), sha]));
  }
  return { ...state, base, waits, sent };
}

function readJournal(folder: string): JournalEntry[] {
  const lines = (readPrivateFile(journalPath(folder), { hasSecrets: false }) ?? '').split('\n');
  return lines.flatMap((line): JournalEntry[] => {
    try {
      const [path, ...rest] = journalSchema.parse(JSON.parse(line));
      const checked = checkFolderPath(path);
      return isBad(checked) ? [] : [[checked, ...rest]];
    } catch {
      // The last line may be truncated; its push was not sent.
      return [];
    }
  });
}

function parse(document: unknown): SyncState {
  const isFirst = typeof document === 'object' && document !== null && 'version' in document && document.version === 1;
  if (isFirst) {
    const { version: _, base, ...head } = firstSchema.parse(document);
    const empty = { inode: null, only: [], own: [], mounts: [], waits: new Map(), foreign: new Map(), sent: new Map() };
    return { ...head, ...empty, base: mapOf(Object.entries(base)) };
  }
  const { version: _, base, waits, foreign, sent, ...head } = stateSchema.parse(document);
  const sets = sent.map(([path, shas]): [string, Set<Sha>] => [path, new Set(shas)]);
  return { ...head, base: mapOf(base), waits: mapOf(waits), foreign: new Map(foreign), sent: mapOf(sets) };
}

function mapOf<T>(pairs: readonly (readonly [string, T])[]): Map<FolderPath, T> {
  const found = new Map<FolderPath, T>();
  for (const [path, value] of pairs) {
    const checked = checkFolderPath(path);
    if (!isBad(checked)) found.set(checked, value);
  }
  return found;
}
