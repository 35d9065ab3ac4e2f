/**
 * Follows a data file: makes a full backup first, then appends the new pages after each commit. Every point in time
 * available for a restore includes all writes answered before it.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { allTables } from '../../compose/tables.ts';
import { ControlSocket, FolderTaken } from '../../control/socket.ts';
import { limits } from '../../limits/service.ts';
import { appendPoint, cutJournal, hasJournal, type Point, readPoints } from '../../store/copies/journal.ts';
import { COPY_MANIFEST_FILE, readCopyManifest } from '../../store/copies/manifest.ts';
import { newestTransaction, takeNewPages } from '../../store/copies/new-pages.ts';
import { removeLeftovers } from '../../store/copies/partial.ts';
import { fileIdentity } from '../../store/data-file/identity.ts';
import { makeFolders } from '../../store/data-file/make-folders.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { openSealer } from '../../store/sealing/own-key.ts';
import { Store } from '../../store/store.ts';
import { makeBackup } from './backup.ts';

export interface FollowOptions {
  readonly dataFolder: string;
  /** Folder of the backups. */
  readonly folder: string;
  readonly key: Uint8Array;
  readonly withKey: boolean;
  readonly mapBytes: number;
  /** How long to keep backups after a newer one exists, in milliseconds. */
  readonly keepMs: number;
  readonly now: () => number;
  /** Called before a whole copy, which can take long. */
  readonly onWhole: () => void;
}

/** Result of a step. */
export interface FollowStep {
  readonly kind: 'whole' | 'new' | 'nothing';
  readonly madeAt: string;
  /** Name of the backup, and the bytes added to it. */
  readonly backup: string;
  readonly bytes: number;
}

export class Follower {
  readonly #options: FollowOptions;
  readonly #lock: ControlSocket;
  /** True when an append failed: its line may be in the journal, whole or in part, and the next one must not follow it. */
  #isCut = false;
  /** The current backup and its newest point; undefined: the next step makes a full backup. */
  #at: { readonly backup: string; readonly point: Point } | undefined;

  private constructor(options: FollowOptions, lock: ControlSocket) {
    this.#options = options;
    this.#lock = lock;
  }

  /** Locks the folder of backups. Throws StartError when another process follows into it. */
  static async open(options: FollowOptions): Promise<Follower> {
    const { folder } = options;
    if (isSameFolder(folder, options.dataFolder)) {
      throw new StartError('DIR is the data folder itself; name a folder on another disk.');
    }
    const lock = await lockOf(folder);
    const follower = new Follower(options, lock);
    // The lock was just made there, by the clock of the disk.
    removeLeftovers(folder, statSync(folder).mtimeMs, isOwn);
    const last = follower.#backups().at(-1);
    if (last !== undefined) {
      cutJournal(join(folder, last));
      const { points, damagedLine } = readPoints(join(folder, last));
      const point = points.at(-1);
      // After a damaged line nothing can be restored: a new backup begins.
      if (point !== undefined && damagedLine === undefined) follower.#at = { backup: last, point };
    }
    return follower;
  }

  /** Copies what is new. `always`: even when the number of the newest transaction is unchanged. Throws StartError. */
  async step(always = false): Promise<FollowStep> {
    const { dataFolder, mapBytes } = this.#options;
    const path = join(dataFolder, DATA_FILE);
    const at = this.#at;
    if (!always && at?.point.file === fileIdentity(path) && at.point.transaction === newestTransaction(path)) {
      return { kind: 'nothing', madeAt: at.point.made_at, backup: at.backup, bytes: 0 };
    }
    const file = fileIdentity(path);
    const store = new Store({ folder: dataFolder, tables: allTables, mapBytes, readOnly: true });
    try {
      // Compaction replaces the data file by a rename, possibly while it was being opened here.
      if (fileIdentity(path) !== file) return await this.step(always);
      const isTheSame = at?.point.file === file && at.point.transaction <= newestTransaction(path);
      return isTheSame && !this.#isLong(at.backup) ? this.#append(store, at) : await this.#whole(store, file);
    } catch (error) {
      if (error instanceof StartError) throw error;
      throw new StartError(`the copy could not be written to ${this.#options.folder}: ${systemReason(error)}`);
    } finally {
      await store.close();
    }
  }

  async close(): Promise<void> {
    await this.#lock.release();
  }

  #append(store: Store, { backup, point }: { readonly backup: string; readonly point: Point }): FollowStep {
    const madeAt = new Date(this.#options.now()).toISOString();
    // A power failure can undo only the newest transaction. A different one may have its number now.
    const after = point.transaction - 1;
    const moment = store.snapshot();
    const target = join(this.#options.folder, backup);
    try {
      if (this.#isCut) cutJournal(target, point);
      this.#isCut = true;
      const path = join(this.#options.dataFolder, DATA_FILE);
      const made = takeNewPages(path, after, ({ entries, tables, transaction, bytes }) => {
        const next = { made_at: madeAt, file: point.file, transaction, bytes, tables: { ...point.tables, ...tables } };
        return appendPoint(target, point, next, entries);
      });
      this.#isCut = false;
      this.#at = { backup, point: made };
      return { kind: 'new', madeAt, backup, bytes: made.end - point.end };
    } finally {
      moment.close();
    }
  }

  async #whole(store: Store, file: string): Promise<FollowStep> {
    const { folder, key, withKey, mapBytes, now, onWhole } = this.#options;
    onWhole();
    const backup = new Date(now()).toISOString().replaceAll(':', '-');
    const target = join(folder, backup);
    const manifest = await makeBackup({
      copyTo: (path) => store.copyTo(path),
      bytes: statSync(join(this.#options.dataFolder, DATA_FILE)).size,
      sealerOf: (copy) => openSealer(copy, key),
      // New pages are appended by their numbers, which a salvaged file does not keep.
      salvages: false,
      folder: target,
      masterKey: withKey ? key : undefined,
      mapBytes,
      now,
      isLeft: isOwn,
    });
    const { made_at, bytes, tables } = manifest;
    const transaction = newestTransaction(join(target, DATA_FILE));
    const point = appendPoint(target, undefined, { made_at, file, transaction, bytes, tables }, []);
    this.#at = { backup, point };
    this.#removeOld();
    return { kind: 'whole', madeAt: made_at, backup, bytes };
  }

  /** True when the journal has grown larger than a full backup. */
  #isLong(backup: string): boolean {
    const { point } = this.#at ?? {};
    const whole = statSync(join(this.#options.folder, backup, DATA_FILE)).size;
    return (point?.end ?? 0) > Math.max(whole, limits.followJournalBytesMin);
  }

  /** Removes backups replaced longer ago than `keepMs`. */
  #removeOld(): void {
    const { folder, keepMs, now } = this.#options;
    const all = this.#backups();
    for (const [index, name] of all.entries()) {
      const next = all[index + 1];
      if (next === undefined) return;
      if (Date.parse(readCopyManifest(join(folder, next)).made_at) > now() - keepMs) return;
      rmSync(join(folder, name), { recursive: true });
    }
  }

  /** Backups made by a follower, oldest first: their names are times. */
  #backups(): string[] {
    const { folder } = this.#options;
    return readdirSync(folder)
      .filter((name) => hasJournal(join(folder, name)) && statSync(join(folder, name, COPY_MANIFEST_FILE)).isFile())
      .sort();
  }
}

/** True for the names of its own copies, which are times: another process would need the lock of the folder. */
const isOwn = (copy: string): boolean => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\./.test(basename(copy));

/** True for one folder, also by the name of a link to it. */
function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** Creates the folder and locks it. Throws StartError. */
async function lockOf(folder: string): Promise<ControlSocket> {
  try {
    makeFolders(folder, 0o700);
    return await ControlSocket.acquire(folder, () => Promise.resolve('{"ok":false,"error":"a copy follows here"}'));
  } catch (error) {
    if (error instanceof FolderTaken) {
      throw new StartError(`another \`cairn follow\` writes into ${folder}; stop it first, or name another folder.`);
    }
    if (error instanceof StartError) throw error;
    throw new StartError(`${folder} cannot be written to: ${systemReason(error)}`);
  }
}
