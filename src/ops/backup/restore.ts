/**
 * Restores a backup into a data folder without data. The copy is hashed, opened and fully checked before it gets the
 * name of the data file. It gets a new epoch, so cursors from before the restore are invalid.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Refusal } from '../../common/fault.ts';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { makeFolder } from '../../compose/core.ts';
import { SCHEMA } from '../../compose/schema/steps.ts';
import { allTables } from '../../compose/tables.ts';
import { checkIntegrity } from '../../compose/verify.ts';
import { ControlSocket } from '../../control/socket.ts';
import { limits } from '../../limits/service.ts';
import { putTogether } from '../../store/copies/chain.ts';
import { applyPoints, damagedAfter, type Journal, readPoints } from '../../store/copies/journal.ts';
import { COPY_MANIFEST_FILE, type CopyManifest, hashFile, readCopyManifest } from '../../store/copies/manifest.ts';
import { isPartial } from '../../store/copies/partial.ts';
import { reserveLocks } from '../../store/data-file/lock-file.ts';
import { isFolder } from '../../store/data-file/make-folders.ts';
import { DATA_FILE, KEY_FILE, RESTORE_FOLDER } from '../../store/data-file/names.ts';
import { syncPath } from '../../store/data-file/sync-path.ts';
import { leaveLog } from '../../store/logged/place.ts';
import { startNewEpoch } from '../../store/meta/epoch.ts';
import { schemaOf } from '../../store/meta/schema.ts';
import { HUB } from '../../store/owners.ts';
import { isMasterKey } from '../../store/sealing/key-check.ts';
import { loadMasterKey, writeMasterKey } from '../../store/sealing/master-key.ts';
import { openSealer } from '../../store/sealing/own-key.ts';
import { Store } from '../../store/store.ts';

export interface RestoreOptions {
  /** Folder of the backup. */
  readonly from: string;
  /** In milliseconds: restores the newest point at or before this time. Undefined: the newest point. */
  readonly atMs?: number | undefined;
  readonly dataFolder: string;
  /** CAIRN_MASTER_KEY, if set. */
  readonly masterKey: string | undefined;
  readonly mapBytes: number;
}

export interface Restored {
  readonly manifest: CopyManifest;
  readonly epoch: string;
}

/** Restores it. Throws StartError when data exists, a service uses the folder, or the backup is not intact. */
export async function restoreBackup({
  from,
  atMs,
  dataFolder,
  masterKey,
  mapBytes,
}: RestoreOptions): Promise<Restored> {
  const whole = readManifest(from);
  const points = pointsUpTo(from, whole, atMs ?? Number.POSITIVE_INFINITY);
  const { made_at, bytes, tables } = points.at(-1) ?? whole;
  const manifest = { ...whole, made_at, bytes, tables };
  if ((manifest.schema ?? 1) > SCHEMA) throw later(manifest);
  const unknown = Object.keys(manifest.tables).filter((name) => !allTables.some((table) => table.name === name));
  if (unknown.length > 0) throw later(manifest);
  const key = findRestoreKey(from, dataFolder, masterKey);
  const epoch = await restoreInto({ dataFolder, masterKey, mapBytes, key }, async (work) => {
    await copyChecked(from, work, whole);
    if (points.length > 0) applyPoints(from, join(work, DATA_FILE), points);
    return manifest;
  });
  return { manifest, epoch };
}

/**
 * The points up to the newest that was made at or before a time, at least the first. They build upon one another, also on one
 * that a clock which jumped ahead dates after the next. Throws StartError when a damaged line may be the newest.
 */
function pointsUpTo(folder: string, whole: CopyManifest, timeMs: number): Journal['points'] {
  const { points, damagedLine } = readPoints(folder);
  const { made_at: lastMade } = points.at(-1) ?? whole;
  if (damagedLine !== undefined && timeMs > Date.parse(lastMade)) throw damagedAfter(folder, damagedLine, lastMade);
  const last = points.findLastIndex(({ made_at: madeAt }) => Date.parse(madeAt) <= timeMs);
  return points.slice(0, Math.max(0, last) + 1);
}

export interface RestoreTarget extends Pick<RestoreOptions, 'dataFolder' | 'masterKey' | 'mapBytes'> {
  readonly key: Uint8Array;
}

/** What a restored data file must be. Without `tables` its row counts are not compared. */
export type Expected = Pick<CopyManifest, 'damaged'> & Partial<Pick<CopyManifest, 'tables'>>;

/**
 * Makes a data file in a data folder without one, checks it, and gives it its name. Returns the new epoch. Throws
 * StartError when data exists, a service uses the folder, or the file does not verify.
 * @param fill writes the file into a folder
 */
export async function restoreInto(
  { dataFolder, masterKey, mapBytes, key }: RestoreTarget,
  fill: (work: string) => Promise<Expected>,
): Promise<string> {
  makeFolder(dataFolder);
  // The control socket locks the folder: no service can start on it before the restore is done.
  const lock = await ControlSocket.acquire(dataFolder, () =>
    Promise.resolve('{"ok":false,"error":"a restore is running"}'),
  );
  // The next restore removes what an interrupted one has left.
  const work = join(dataFolder, RESTORE_FOLDER);
  try {
    if (existsSync(join(dataFolder, DATA_FILE))) {
      throw new StartError(
        'CAIRN_DATA is not empty, and a restore overwrites nothing; set CAIRN_DATA to an empty folder.',
      );
    }
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { mode: 0o700 });
    const expected = await fill(work);
    const epoch = await openChecked(work, key, { expected, mapBytes });
    if (masterKey === undefined && !existsSync(join(dataFolder, KEY_FILE))) writeMasterKey(dataFolder, key);
    syncPath(join(work, DATA_FILE));
    renameSync(join(work, DATA_FILE), join(dataFolder, DATA_FILE));
    return epoch;
  } catch (error) {
    throw toldToOperator(error);
  } finally {
    rmSync(work, { recursive: true, force: true });
    syncPath(dataFolder);
    await lock.release();
  }
}

/** Turns an error of the disk into one for the operator. Any other error is a broken assumption. */
function toldToOperator(error: unknown): unknown {
  const isFull = error instanceof Refusal && error.fault.kind === 'storage_full';
  const cause = isFull ? { code: 'ENOSPC', message: '' } : error;
  const isOfDisk = isFull || (!(error instanceof StartError) && error instanceof Error && 'code' in error);
  return isOfDisk ? new StartError(`the backup could not be copied: ${systemReason(cause)}`) : error;
}

/** Finds the master key in the setting, the data folder or the backup. A restore never makes a new one. */
export function findRestoreKey(from: string, dataFolder: string, setting: string | undefined): Uint8Array {
  if (setting !== undefined || existsSync(join(dataFolder, KEY_FILE))) return loadMasterKey(dataFolder, setting);
  if (existsSync(join(from, KEY_FILE))) return loadMasterKey(from, undefined);
  throw new StartError(
    `the backup does not include the master key; put ${KEY_FILE} into CAIRN_DATA or set CAIRN_MASTER_KEY, then restore.`,
  );
}

function later({ cairn_version: made }: CopyManifest): StartError {
  return new StartError(`the backup was made by a later version of cairn, ${made}; restore it with that version.`);
}

async function copyChecked(from: string, work: string, manifest: CopyManifest): Promise<void> {
  const path = join(work, DATA_FILE);
  if (manifest.since === undefined) copyFileSync(join(from, DATA_FILE), path);
  else putTogether(from, path);
  // A copy has the mode of the backup, which others may read.
  chmodSync(path, 0o600);
  syncPath(path);
  if (statSync(path).size !== manifest.bytes || (await hashFile(path)) !== manifest.sha256) {
    throw new StartError(
      'the backup is damaged: its data file does not match its manifest; restore an earlier backup.',
    );
  }
}

async function openChecked(
  work: string,
  key: Uint8Array,
  { expected, mapBytes }: { readonly expected: Expected; readonly mapBytes: number },
): Promise<string> {
  reserveLocks(join(work, DATA_FILE));
  const store = new Store({ folder: work, tables: allTables, mapBytes });
  const sealer = openSealer(store, key);
  try {
    if (!isMasterKey(store, sealer)) {
      throw new StartError(
        'the master key does not match this backup; use the key that the hub had when the backup was made.',
      );
    }
    // Rows of an older schema are checked by the first start, which upgrades them.
    const found = schemaOf(store) === SCHEMA ? checkIntegrity(store, sealer).problems : store.damagedPages();
    // Damage already in the manifest is restored as is; the next upload or push of the same bytes repairs it.
    const known = new Set(expected.damaged);
    const isListedWhole = known.size < limits.damagedListedMax;
    const problems = isListedWhole ? found.filter((problem) => !known.has(problem)) : [];
    if (problems.length > 0) {
      throw new StartError(`the backup does not verify (${problems.length} problems): ${problems[0]}`);
    }
    for (const { name, rows } of expected.tables === undefined ? [] : store.stats().tables) {
      const count = expected.tables?.[name] ?? 0;
      if (rows !== count) throw new StartError(`the backup is damaged: ${name} has ${rows} rows, not ${count}.`);
    }
    const epoch = await startNewEpoch(store);
    await store.write(HUB, leaveLog);
    return epoch;
  } finally {
    await store.close();
  }
}

function readManifest(from: string): CopyManifest {
  if (!existsSync(join(from, COPY_MANIFEST_FILE)) && backupsIn(from).length > 0) {
    throw new StartError(`${from} is a folder of backups; name one of them, or the time that you want with --at.`);
  }
  return readCopyManifest(from);
}

interface Moment {
  readonly path: string;
  readonly madeMs: number;
}

/**
 * The newest backup of the same hub next to a restored one that has a later moment, if there is one: it may be the one that was
 * meant. What a wrong clock dated after now does not count.
 */
export function newerBeside(
  from: string,
  { made_at: at, epoch }: Pick<CopyManifest, 'made_at' | 'epoch'>,
  nowMs: number,
): Moment | undefined {
  const ofThisHub = (path: string) =>
    readCopyManifest(path).epoch === epoch ? momentsOf(path, nowMs, true).map((madeMs) => ({ path, madeMs })) : [];
  const [newest] = ifReadable(() => backupsIn(dirname(resolve(from))))
    .flatMap((path) => ifReadable(() => ofThisHub(path)))
    .sort((a, b) => b.madeMs - a.madeMs);
  return newest !== undefined && newest.madeMs > Date.parse(at) ? newest : undefined;
}

/** What cannot be read is no better choice, and no reason to fail after a restore. */
function ifReadable<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function backupsIn(folder: string): string[] {
  if (!isFolder(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() && !isPartial(entry.name) && existsSync(join(folder, entry.name, COPY_MANIFEST_FILE)),
    )
    .map(({ name }) => join(folder, name));
}

/**
 * The backup in a folder with the newest moment at or before a time; the folder may also be a backup itself. Throws StartError when
 * there is none, and when one is dated after now: it need not be the newest.
 */
export function backupAt(folder: string, timeMs: number, nowMs: number): string {
  const isOne = existsSync(join(folder, COPY_MANIFEST_FILE));
  const found = isOne ? [folder] : backupsIn(folder);
  const made = found
    .flatMap((path) => momentsOf(path, timeMs, isOne).map((madeMs) => ({ path, madeMs })))
    .sort((a, b) => a.madeMs - b.madeMs);
  const newest = made.at(-1);
  if (newest !== undefined && !isOne && made.length > 1 && newest.madeMs > nowMs) {
    throw new StartError(
      `${newest.path} is dated ${new Date(newest.madeMs).toISOString()}, after now, and another one may be newer: check the clock of this machine; if it is right, name an earlier time, or the folder of one backup without --at.`,
    );
  }
  if (newest !== undefined) return newest.path;
  if (found.length === 0) throw new StartError(`${folder} is not a folder of backups; correct the path.`);
  const time = new Date(timeMs).toISOString();
  throw new StartError(
    isOne
      ? `${folder} is a backup of ${readCopyManifest(folder).made_at}, which is after ${time}; name an earlier one, or the folder that the backups are in.`
      : `${folder} has no backup from ${time} or before; name a later time.`,
  );
}

/**
 * The newest moment of a backup at or before a time, if it has one. Of one that goes on (`cairn follow`) that is a point: it may
 * have begun under a wrong clock.
 */
function momentsOf(path: string, timeMs: number, isOne: boolean): number[] {
  try {
    const made = [readCopyManifest(path), ...readPoints(path).points].map(({ made_at: at }) => Date.parse(at));
    return made.filter((madeMs) => madeMs <= timeMs).slice(-1);
  } catch (error) {
    if (isOne || !(error instanceof StartError)) throw error;
    // It may be the newest: skipping it could restore an earlier moment than was meant.
    throw new StartError(`${error.message} To restore another backup, name its folder, without --at.`);
  }
}
