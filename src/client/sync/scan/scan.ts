/** Scans a synced folder: which files are synced, with their hashes, and which are left out, with the reasons. */
import { type Dirent, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../../limits/service.ts';
import { nextCommand } from '../../next-command.ts';
import { formatBytes } from '../../progress.ts';
import type { SyncState } from '../base/state.ts';
import { vaultOfFolder } from '../base/state-file.ts';
import { codeOf, lookAt, looksSame, readPlain, seenOf, Unreadable } from '../folder/file.ts';
import type { LocalFile, SyncedFolder } from '../folder/folder.ts';
import { checkFolderPath, type FolderPath, isBad, isReserved, OWN_FOLDER, parentsOf } from '../folder/path.ts';
import { type Rules, readRules } from './choice.ts';

export interface Scan {
  readonly files: Map<FolderPath, LocalFile>;
  /** Spelling on this disk of the files whose names are not in NFC there. */
  readonly otherForms: ReadonlyMap<FolderPath, string>;
  /** Files that differ from another one only in Unicode form, by their spelling on this disk; also in `skipped`. */
  readonly twins: ReadonlyMap<string, FolderPath>;
  /** Paths that should be synced and cannot be, with the reason for the user. A folder includes everything below it. */
  readonly skipped: Map<string, string>;
  /** Problems of the rule files, by path. */
  readonly problems: ReadonlyMap<string, string>;
  /** Links and devices, which are never synced. */
  readonly links: ReadonlySet<string>;
  /** Folders that are or were the mount point of another filesystem. */
  readonly mounts: readonly string[];
  /** True for a path not synced here, whatever the hub has: excluded, skipped, or a link. */
  readonly leavesOut: (path: FolderPath) => boolean;
  readonly excludes: (path: FolderPath) => boolean;
}

/** Milliseconds of scanning before other work gets a turn. */
const TURN_MS = 20;
export const TOO_LARGE = `It is larger than ${formatBytes(limits.fileBytesMax)}, the limit of a vault. To exclude it, list it in .cairnignore.`;
const NESTED =
  'This folder syncs the same vault itself. Keep one of them: to sync it as a part of this folder, remove its .cairn.';

type Known = Pick<SyncState, 'vault_id' | 'base' | 'only' | 'mounts'>;

/**
 * Scans a folder. Files with the same metadata as at their last hash are not read again. `onFolder` is called with each
 * folder that takes part before it is read, the root first with an empty path. Throws RootGone.
 */
export async function scanFolder(
  folder: SyncedFolder,
  known: Known,
  onFolder: (path: string) => void = () => undefined,
): Promise<Scan> {
  const scanner = new Scanner(folder, known, readRules(folder, known.only, known.base));
  folder.root.check();
  await scanner.walk(onFolder);
  // The folder may have been replaced during the scan.
  folder.root.check();
  scanner.leaveOutUnmounted();
  scanner.leaveOutNested();
  return scanner.found();
}

class Scanner {
  readonly #folder: SyncedFolder;
  readonly #known: Known;
  readonly #rules: Rules;
  /** When the scan began to read files, by the clock of the disk. Undefined: it has read none. */
  #fromMs: number | undefined;
  readonly #files = new Map<FolderPath, LocalFile>();
  readonly #otherForms = new Map<FolderPath, string>();
  readonly #twins = new Map<string, FolderPath>();
  readonly #skipped = new Map<string, string>();
  readonly #links = new Set<string>();
  readonly #mounts = new Set<string>();
  /** Folders with a `.cairn` folder in them. */
  readonly #nested: string[] = [];

  constructor(folder: SyncedFolder, known: Known, rules: Rules) {
    this.#folder = folder;
    this.#known = known;
    this.#rules = rules;
    for (const path of known.mounts) this.#mounts.add(path);
  }

  async walk(onFolder: (path: string) => void): Promise<void> {
    const folders = [''];
    let turnEndMs = performance.now() + TURN_MS;
    for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
      onFolder(below);
      for (const entry of this.#entries(below)) {
        const path = below === '' ? entry.name : `${below}/${entry.name}`;
        const isFolder = entry.isDirectory();
        if (isFolder && entry.name === OWN_FOLDER && below !== '') this.#nested.push(below);
        if (isReserved(entry.name) || this.#rules.excludes(isFolder ? `${path}/` : path)) continue;
        if (isFolder) {
          folders.push(path);
          this.#noteMount(path);
        } else this.#take(path, entry);
        if (performance.now() < turnEndMs) continue;
        await setImmediate();
        turnEndMs = performance.now() + TURN_MS;
      }
    }
  }

  /** Skips files below an unmounted filesystem. They are not deleted; their state is unknown. */
  leaveOutUnmounted(): void {
    const { root } = this.#folder;
    for (const mount of this.#mounts) {
      if (root.isElsewhere(mount) !== false || this.#rules.excludes(`${mount}/`)) continue;
      this.#leaveOut(mount, whyUnmounted(root.path));
    }
  }

  /** Skips folders that sync the same vault themselves: each would fill the other with copies of it, without end. */
  leaveOutNested(): void {
    const { path: root } = this.#folder.root;
    for (const below of this.#nested) {
      if (vaultOfFolder(join(root, below)) === this.#known.vault_id) this.#leaveOut(below, NESTED);
    }
  }

  found(): Scan {
    const [files, skipped, links, rules] = [this.#files, this.#skipped, this.#links, this.#rules];
    const isIn = (path: string) => skipped.has(path) || links.has(path);
    return {
      files,
      otherForms: this.#otherForms,
      twins: this.#twins,
      skipped,
      problems: rules.problems,
      links,
      mounts: [...this.#mounts],
      leavesOut: (path) => isIn(path) || parentsOf(path).some(isIn) || rules.excludes(path),
      excludes: (path) => rules.excludes(path),
    };
  }

  #leaveOut(below: string, reason: string): void {
    this.#skipped.set(below.normalize('NFC'), reason);
    for (const path of this.#files.keys()) {
      if (path.startsWith(`${below.normalize('NFC')}/`)) this.#files.delete(path);
    }
  }

  #noteMount(path: string): void {
    if (this.#folder.root.isElsewhere(path) !== true) return;
    if (!parentsOf(path).some((parent) => this.#mounts.has(parent))) this.#mounts.add(path);
  }

  #entries(below: string): Dirent[] {
    let entries: Dirent<Buffer>[];
    try {
      entries = readdirSync(join(this.#folder.root.path, below), { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      if (below === '') throw error;
      // When removed since its parent was read, the folder is gone. Otherwise its contents are unknown.
      if (!this.#isAbsent(below)) {
        this.#skipped.set(below.normalize('NFC'), `The folder cannot be read (${codeOf(error)}).`);
      }
      return [];
    }
    return entries.flatMap((entry) => {
      const bytes = entry.name;
      const name = bytes.toString('utf8');
      if (Buffer.from(name).equals(bytes)) return [Object.assign(entry as unknown as Dirent, { name })];
      this.#skipped.set(below === '' ? name : `${below}/${name}`, 'The name is not valid UTF-8; rename it.');
      return [];
    });
  }

  #take(path: string, entry: Dirent): void {
    const shown = path.normalize('NFC');
    if (!entry.isFile()) {
      this.#links.add(shown);
      return;
    }
    const checked = checkFolderPath(path);
    if (isBad(checked)) {
      this.#skipped.set(shown, checked.bad);
      return;
    }
    try {
      if (path === checked || this.#isOnlyForm(path, checked)) this.#add(checked, path);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#skipped.set(shown, error.message);
    }
  }

  /** True when no other file here has the NFC form of this name. */
  #isOnlyForm(path: string, checked: FolderPath): boolean {
    const twin = this.#stat(checked);
    const isTaken = this.#otherForms.has(checked) || (twin !== undefined && twin.ino !== this.#stat(path)?.ino);
    if (isTaken) {
      this.#twins.set(path, checked);
      this.#skipped.set(path, 'Another file differs from it only in Unicode form; remove or rename one of them.');
    } else if (twin === undefined) this.#otherForms.set(checked, path);
    return !isTaken;
  }

  #add(path: FolderPath, onDisk: string): void {
    const stats = this.#stat(onDisk);
    if (stats?.isFile() !== true) return;
    if (stats.size > limits.fileBytesMax) {
      // The same sentence while it grows: a watch tells each reason once.
      this.#skipped.set(path, TOO_LARGE);
      return;
    }
    const executable = this.#folder.bitOf(stats);
    const known = this.#known.base.get(path);
    if (known?.seen !== undefined && looksSame(stats, known.seen)) {
      this.#files.set(path, { sha256: known.sha256, executable, seen: known.seen });
      return;
    }
    this.#fromMs ??= this.#folder.timeMs();
    const sha256 = readPlain(join(this.#folder.root.path, onDisk))?.sha256;
    if (sha256 !== undefined) this.#files.set(path, { sha256, executable, seen: seenOf(stats, this.#fromMs) });
  }

  /** False when it exists or cannot be inspected. */
  #isAbsent(path: string): boolean {
    try {
      return this.#stat(path) === undefined;
    } catch (error) {
      if (error instanceof Unreadable) return false;
      throw error;
    }
  }

  #stat(path: string): Stats | undefined {
    return lookAt(join(this.#folder.root.path, path));
  }
}

function whyUnmounted(root: string): string {
  const [deletes, restores] = ['allow-deletes', 'restore-missing'].map((word) => nextCommand(root, `sync --${word}`));
  return `The filesystem that was mounted here is gone. Mount it again. If it is permanently gone, \`${deletes}\` deletes its files on the hub, and \`${restores}\` brings them back here.`;
}
