/** Scans a synced folder: which files are synced, with their hashes, and which are left out, with the reasons. */
import { setImmediate } from 'node:timers/promises';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { parentsOf } from '../folder/path.ts';
import { type Rules, readRules, stampOfRules } from './choice.ts';
import { type Known, type ScannedEntries, Scanner } from './scanner.ts';

export interface ScanHow {
  /** Called with each folder that takes part before it is read, the root first with an empty path. */
  readonly onFolder?: ((path: string) => void) | undefined;
  /** A watch, which scans again once a large file stands still. */
  readonly comesBack?: boolean;
}

export interface Scan extends ScannedEntries {
  /** The files that this scan looked at; undefined: all. */
  readonly looked: ReadonlySet<FolderPath> | undefined;
  /** Problems of the rule files, by path. */
  readonly problems: ReadonlyMap<string, string>;
  /** True for a path not synced here, whatever the hub has: excluded, skipped, or a link. */
  readonly leavesOut: (path: FolderPath) => boolean;
  readonly excludes: (path: FolderPath) => boolean;
  readonly rules: Rules;
}

/** More paths than this are scanned with everything else. */
const PATHS_MAX = 20_000;

/** Scans a folder. Files with the same metadata as at their last hash are not read again. Throws RootGone. */
export async function scanFolder(folder: SyncedFolder, known: Known, how: ScanHow = {}): Promise<Scan> {
  const found = await new FullScan(folder, known, how).goOn(() => false);
  // It was never left, so nothing has to be looked at again.
  if (typeof found === 'string') throw new Error(`a scan ended as ${found}`);
  return found;
}

/** A scan of everything, which may be left for other work. What changes meanwhile is looked at again at its end. */
export class FullScan {
  readonly #folder: SyncedFolder;
  readonly #known: Known;
  readonly #how: ScanHow;
  readonly #rules: Rules;
  readonly #scanner: Scanner;
  readonly #walk: Generator<void>;
  /** Paths that were noticed or written while it was left. */
  readonly #again = new Set<string>();

  constructor(folder: SyncedFolder, known: Known, how: ScanHow) {
    this.#folder = folder;
    this.#known = known;
    this.#how = how;
    this.#rules = readRules(folder, known.only, known.base);
    this.#scanner = new Scanner(folder, known, { rules: this.#rules, onFolder: how.onFolder });
    this.#walk = this.#scanner.walk('');
  }

  /** Notes paths that may have changed after this scan has passed them. */
  lookAgain(paths: Iterable<string>): void {
    for (const path of paths) this.#again.add(path);
  }

  /**
   * Goes on until its end, or until `isWanted`, which is asked at short intervals, has other work. `outdated`: only another scan
   * of everything tells what is true. Throws RootGone.
   */
  async goOn(isWanted: () => boolean): Promise<Scan | 'left' | 'outdated'> {
    const { root, touched } = this.#folder;
    root.check();
    while (this.#walk.next().done !== true) {
      await setImmediate();
      if (!isWanted()) continue;
      touched.alsoTo = this.#again;
      return 'left';
    }
    touched.alsoTo = undefined;
    const { onFolder, comesBack = false } = this.#how;
    await this.#scanner.hashLarge(comesBack);
    // The folder may have been replaced during the scan.
    root.check();
    this.#scanner.leaveOutUnmounted();
    this.#scanner.leaveOutNested();
    const before = scanOf(this.#scanner.found, this.#rules, undefined);
    if (this.#again.size === 0) return before;
    const found = await rescanPaths(this.#folder, this.#known, { before, paths: this.#again, onFolder, comesBack });
    return found === undefined ? 'outdated' : { ...found, looked: undefined };
  }
}

/**
 * Scans only some paths, relative to the root and as on this disk, and corrects an earlier scan by what is there; that one
 * is used up. Undefined when only a scan of everything tells what is true. Throws RootGone.
 */
export async function rescanPaths(
  folder: SyncedFolder,
  known: Known,
  {
    before,
    paths,
    onFolder,
    comesBack = false,
  }: ScanHow & { readonly before: Scan; readonly paths: ReadonlySet<string> },
): Promise<Scan | undefined> {
  const { rules } = before;
  if (!mayScanPaths(folder, known, before) || paths.size > PATHS_MAX || ![...paths].every(isPlain)) return undefined;
  const scanner = new Scanner(folder, known, { rules, onFolder, before });
  folder.root.check();
  // What was left out may be readable by now, or small enough.
  const again = [...before.skipped.keys(), ...before.resting].filter(isPlain);
  for (const path of new Set([...paths, ...again])) await scanner.lookAgain(path);
  await scanner.hashLarge(comesBack);
  folder.root.check();
  // Both need all of the folder.
  if (scanner.found.nested.size + scanner.found.mounts.size > 0) return undefined;
  return scanOf(scanner.found, rules, scanner.looked);
}

/** True when a later scan may look only at some paths. */
export function mayScanPaths(folder: SyncedFolder, known: Known, before: Scan): boolean {
  const { rules, otherForms, twins, nested, mounts } = before;
  const isOdd = otherForms.size + twins.size + nested.size + mounts.size > 0;
  return !isOdd && rules.stamp !== undefined && rules.stamp === stampOfRules(folder, known.only);
}

/** True for a name that is on the disk as the hub has it. */
function isPlain(path: string): boolean {
  return path !== '' && path === path.normalize('NFC') && !path.includes('\ufffd');
}

/** A scan under other rules, until the next one: what they leave out is neither written nor removed. */
export function withOtherRules(scan: Scan, rules: Rules): Scan {
  return { ...scanOf(scan, rules, scan.looked), rules: scan.rules };
}

function scanOf(found: ScannedEntries, rules: Rules, looked: ReadonlySet<FolderPath> | undefined): Scan {
  const { skipped, resting, links } = found;
  const isIn = (path: string) => skipped.has(path) || resting.has(path as FolderPath) || links.has(path);
  return {
    ...found,
    looked,
    rules,
    problems: rules.problems,
    leavesOut: (path) => isIn(path) || parentsOf(path).some(isIn) || rules.excludes(path),
    excludes: (path) => rules.excludes(path),
  };
}
