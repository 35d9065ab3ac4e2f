/** Copies saved files that stand still, when the running sync is too slow to send them before the next save. */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { shownLine } from '../../shown.ts';
import { isWhole } from '../folder/file.ts';
import { checkFolderPath, type FolderPath, isBad } from '../folder/path.ts';
import { withLostSaves } from '../plan/troubles.ts';
import type { Replica } from '../replica.ts';
import type { Scan } from '../scan/scan.ts';

interface Hears {
  /** True for a file to which a program keeps writing. */
  readonly isRestless: (path: string) => boolean;
  /** Told once of a file of which not each save is kept, until everything was sent. */
  readonly onLost: (sentence: string) => void;
}

export class Keeper {
  readonly #replica: Pick<Replica, 'folder' | 'state'>;
  readonly #hears: Hears;
  readonly #told = new Set<string>();
  #scan: Scan | undefined;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Files that differed from the hub's in the last scan, with their hashes. */
  readonly #open = new Map<FolderPath, string>();

  constructor(replica: Pick<Replica, 'folder' | 'state'>, hears: Hears) {
    this.#replica = replica;
    this.#hears = hears;
  }

  /** Reports a changed file by absolute path. */
  changed(absolute: string): void {
    const onDisk = relative(this.#replica.folder.root.path, absolute);
    clearTimeout(this.#timers.get(onDisk));
    // So many at once are a checkout or an installation and not a person's edits.
    if (this.#timers.size >= limits.clientPushFiles && !this.#timers.has(onDisk)) return;
    const keep = () => {
      this.#timers.delete(onDisk);
      this.#keep(onDisk);
    };
    const stillMs = this.#hears.isRestless(onDisk) ? limits.clientRestMs : limits.clientStillMs;
    this.#timers.set(onDisk, setTimeout(keep, stillMs));
  }

  /** Takes the files of a scan that differ from the hub's: the disk reports no change from before it was watched. */
  noteScan(scan: Scan): void {
    const { state, folder } = this.#replica;
    this.#scan = scan;
    const before = new Map(this.#open);
    if (scan.looked === undefined) this.#open.clear();
    for (const path of scan.looked ?? scan.files.keys()) {
      const sha256 = scan.files.get(path)?.sha256;
      if (sha256 === undefined || state.base.get(path)?.sha256 === sha256) this.#open.delete(path);
      else this.#open.set(path, sha256);
    }
    if (this.#open.size === 0) this.#told.clear();
    // This many are a first sync and not a person's edits.
    if (this.#open.size > limits.clientPushFiles) return;
    for (const [path, sha256] of this.#open) {
      if (before.get(path) !== sha256 && !this.#timers.has(path)) this.changed(folder.at(path));
    }
    // Their names could not be put into NFC, so they are synced under no name; their saves are kept all the same.
    for (const [path, onDisk] of scan.otherForms) {
      if (!scan.files.has(path) && !this.#timers.has(onDisk)) this.changed(folder.at(onDisk as FolderPath));
    }
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #keep(onDisk: string): void {
    const { folder, state } = this.#replica;
    const path = checkFolderPath(onDisk);
    if (isBad(path) || this.#scan?.excludes(path) !== false || existsSync(folder.own('paused'))) return;
    try {
      folder.root.check();
      // Spelled as on the disk, where the Unicode form may differ.
      const content = folder.read(onDisk as FolderPath);
      if (!isWhole(content)) return;
      const base = state.base.get(path)?.sha256;
      const wait = state.waits.get(path);
      const isOnHub = base === content.sha256 || (wait?.local === content.sha256 && wait.conflictId !== null);
      if (!isOnHub) this.#tellOf(folder.saves.keep(path, content, base ?? '').lost);
    } catch {
      // The sync meets and reports the same error: an unreadable file, a missing folder, a full disk.
    }
  }

  #tellOf(lost: ReadonlySet<string>): void {
    for (const path of lost) {
      if (this.#told.has(path)) continue;
      this.#told.add(path);
      this.#hears.onLost(`${shownLine(path)}: ${withLostSaves()}`);
    }
  }
}
