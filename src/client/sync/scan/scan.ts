/** Scans a synced folder: which files are synced, with their hashes, and which are left out, with the reasons. */

import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';
import { parentsOf } from '../folder/path.ts';
import { type Rules, readRules, stampOfRules } from './choice.ts';
import { type Known, type ScannedEntries, Scanner } from './scanner.ts';

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

/**
 * Scans a folder. Files with the same metadata as at their last hash are not read again. `onFolder` is called with each
 * folder that takes part before it is read, the root first with an empty path. `comesBack`: a watch, which scans again once
 * a large file stands still. Throws RootGone.
 */
export async function scanFolder(
  folder: SyncedFolder,
  known: Known,
  onFolder: (path: string) => void = () => undefined,
  comesBack = false,
): Promise<Scan> {
  const rules = readRules(folder, known.only, known.base);
  const scanner = new Scanner(folder, known, { rules, onFolder });
  folder.root.check();
  await scanner.walk('');
  await scanner.hashLarge(comesBack);
  // The folder may have been replaced during the scan.
  folder.root.check();
  scanner.leaveOutUnmounted();
  scanner.leaveOutNested();
  return scanOf(scanner.found, rules, undefined);
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
  }: {
    readonly before: Scan;
    readonly paths: ReadonlySet<string>;
    readonly onFolder: (path: string) => void;
    readonly comesBack?: boolean;
  },
): Promise<Scan | undefined> {
  const { rules } = before;
  if (rules.stamp === undefined || rules.stamp !== stampOfRules(folder, known.only)) return undefined;
  const isOdd = before.otherForms.size + before.twins.size + before.nested.size + before.mounts.size > 0;
  if (isOdd || paths.size > PATHS_MAX || ![...paths].every(isPlain)) return undefined;
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
