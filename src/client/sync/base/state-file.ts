/**
 * Stores the state of a folder: `.cairn/state.json`, replaced atomically, and a file of lines beside it, to which each save
 * adds what changed. When the lines have outgrown the state, a new file with all of it replaces the former.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { readPrivateFile, reasonOf, writePrivateFile } from '../../private-file.ts';
import { statePath } from '../folder/around.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import { OWN_FOLDER } from '../folder/path.ts';
import type { SyncState } from './state.ts';
import {
  changesText,
  headText,
  type OwnedState,
  readForm,
  type StateChanges,
  withChanges,
  withSentLine,
} from './state-form.ts';

/** The server and the vault come first in a state. */
const HEAD_BYTES = 4096;
/** Records in one line of a whole state. */
const LINE_RECORDS = 1000;
const LINE_END = 0x0a;
const RECORDS = /^records\.[0-9a-f-]+\.jsonl$/;
/** What was sent since the state was written, in its earlier form. */
const sentPath = (folder: string) => join(folder, OWN_FOLDER, 'sent.jsonl');

/** The vault of a synced folder, from the beginning of its state; undefined when there is none. */
export function vaultOfFolder(folder: string): string | undefined {
  return /"vault_id":"([^"]+)"/.exec(beginningOf(folder))?.[1];
}

/** The first bytes of a stored state; empty when it was never synced, or is another user's. */
function beginningOf(folder: string): string {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const descriptor = openSync(statePath(folder), 'r');
    try {
      return head.toString('utf8', 0, readSync(descriptor, head));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}

/** Reads the state of a folder; undefined when it was never synced. Throws ClientError when it is damaged. */
export function readState(folder: string): OwnedState | undefined {
  const path = statePath(folder);
  const text = readPrivateFile(path, { hasSecrets: false });
  if (text === undefined) return undefined;
  try {
    const form = readForm(JSON.parse(text));
    return form.records === undefined
      ? withSent(form.state, folder)
      : withLines(form.state, join(folder, OWN_FOLDER, form.records), form.whole);
  } catch (error) {
    // Another process has just replaced the lines.
    if (readPrivateFile(path, { hasSecrets: false }) !== text) return readState(folder);
    if (error instanceof ClientError) throw error;
    throw new ClientError(
      `${path} is damaged. Move it away and sync again: equal files are recognised, and nothing is overwritten.`,
    );
  }
}

/** Adds the lines of a file; a line after its first `whole` bytes may be cut off, and nothing was sent after it. */
function withLines(before: OwnedState, path: string, whole: number): OwnedState {
  const bytes = bytesOf(path);
  if (bytes.length < whole) throw new Error('the records are cut off');
  let state = before;
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(LINE_END, at);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.toString('utf8', at, end);
    try {
      if (line !== '') state = withChanges(state, line);
    } catch (error) {
      if (at < whole) throw error;
    }
    at = end + 1;
  }
  return state;
}

/** Throws ClientError when this user may not read it. */
function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    readPrivateFile(path, { hasSecrets: false });
    throw error;
  }
}

function withSent(state: OwnedState, folder: string): OwnedState {
  for (const line of (readPrivateFile(sentPath(folder), { hasSecrets: false }) ?? '').split('\n')) {
    try {
      withSentLine(state, line);
    } catch {
      // The last line may be cut off; its push was not sent.
    }
  }
  return state;
}

/** The stored state: the file of its lines, and a stamp that changes with each write of any process. */
export interface Stored {
  readonly records: string | undefined;
  readonly stamp: string | undefined;
  /** Bytes of the lines that hold the whole state, and of all lines. */
  readonly whole: number;
  readonly bytes: number;
}

const NOT_STORED: Stored = { records: undefined, stamp: undefined, whole: 0, bytes: 0 };

/** What is stored now. */
export function storedOf(folder: string): Stored {
  const stats = statSync(statePath(folder), { throwIfNoEntry: false });
  if (stats === undefined) return NOT_STORED;
  const head = beginningOf(folder);
  const records = /"records":"([^"/]+)"/.exec(head)?.[1];
  const whole = Number(/"whole":(\d+)/.exec(head)?.[1] ?? 0);
  const bytes = records === undefined ? 0 : sizeOf(join(folder, OWN_FOLDER, records));
  return { records, whole, bytes, stamp: `${stats.ino} ${stats.mtimeMs} ${stats.size} ${bytes}` };
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Writes the whole state so that it survives a power failure. Throws RootGone, ClientError. */
export function writeState(folder: SyncedFolder, state: SyncState): Stored {
  const { base: _base, waits: _waits, foreign: _foreign, sent: _sent, recent: _recent, ...head } = state;
  const { path: root } = folder.root;
  const records = `records.${crypto.randomUUID()}.jsonl`;
  folder.root.check();
  // The folder may be moved away in this moment, and must not be made in its place.
  const how = { makesFolder: false } as const;
  const lines = wholeLines(state);
  let whole = 0;
  const counted = function* () {
    for (const line of lines) {
      whole += Buffer.byteLength(line);
      yield line;
    }
  };
  try {
    writePrivateFile(join(root, OWN_FOLDER, records), counted(), how);
    writePrivateFile(statePath(root), headText(head, records, whole), how);
  } catch (error) {
    folder.root.check();
    throw error;
  }
  rmSync(sentPath(root), { force: true });
  for (const name of readdirSync(join(root, OWN_FOLDER))) {
    if (RECORDS.test(name) && name !== records) rmSync(join(root, OWN_FOLDER, name), { force: true });
  }
  return storedOf(root);
}

function* wholeLines({ base, waits, foreign, sent, recent }: SyncState): Generator<string> {
  for (const rows of groups(base)) yield `${changesText({ base: rows })}\n`;
  for (const rows of groups(waits)) yield `${changesText({ waits: rows })}\n`;
  for (const rows of groups(foreign)) yield `${changesText({ foreign: rows })}\n`;
  for (const rows of groups(sent)) yield `${changesText({ sent: rows })}\n`;
  for (const rows of groups(recent)) yield `${changesText({ recent: rows })}\n`;
}

function* groups<T>(rows: Iterable<readonly [string, T]>): Generator<(readonly [string, T])[]> {
  let group: (readonly [string, T])[] = [];
  for (const row of rows) {
    group.push(row);
    if (group.length < LINE_RECORDS) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/**
 * Adds a line of changes so that it survives a power failure, to the lines of whoever wrote the state last. False when no
 * state with lines is stored. Throws RootGone, ClientError.
 */
export function appendChanges(folder: SyncedFolder, changes: StateChanges): boolean {
  folder.root.check();
  const { path: root } = folder.root;
  const { records } = storedOf(root);
  const path = join(root, OWN_FOLDER, records ?? '');
  if (records === undefined || !existsSync(path)) return false;
  try {
    const descriptor = openSync(path, 'a', 0o600);
    try {
      // The line break before it ends a line that was cut off. Unlike writeSync, this writes all bytes.
      writeFileSync(descriptor, `\n${changesText(changes)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    folder.root.check();
    throw new ClientError(`${path} cannot be written (${reasonOf(error)}).`);
  }
  return true;
}
