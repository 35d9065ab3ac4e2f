/**
 * Selects the synced paths. Excludes paths matched by `.cairnignore` (shared) or `.cairn/ignore` (this device
 * only), and by the `.gitignore` at the top where one of them includes it. With a selection of this device (`--only`), also excludes all unselected paths.
 * The pattern syntax is that of .gitignore.
 */
import ignore from 'ignore';
import { codeOf, lookAt, lookIfReadable, readPlain } from '../folder/file.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import type { FolderPath } from '../folder/path.ts';

/** Where the rule files are. */
type Folder = Pick<SyncedFolder, 'at' | 'own'>;

/** The rules that all devices share. */
export const RULES_FILE = '.cairnignore' as FolderPath;
export const GIT_RULES = '.gitignore' as FolderPath;
/** A line that takes over the rules of the `.gitignore` at the top; a comment for any other program. */
const INCLUDES_GIT = /^#include \.gitignore[ \t\r]*$/m;

export interface Rules {
  /** Changes with the rule files and the selection; undefined when the rules may have changed just now. */
  readonly stamp: string | undefined;
  /** True for an excluded path; the path of a folder ends with a slash. */
  readonly excludes: (path: string) => boolean;
  /** Problems of the rule files, by path. */
  readonly problems: ReadonlyMap<string, string>;
}

/** A rule file that changed this shortly before it was read may change again without a new time stamp. */
const RACY_MS = 2000;

/** What the rules of a folder depend on; undefined when it may change without another stamp. */
export function stampOfRules(folder: Folder, only: readonly string[]): string | undefined {
  const parts: unknown[] = [...only];
  for (const absolute of [folder.at(RULES_FILE), folder.own('ignore'), folder.at(GIT_RULES)]) {
    const stats = lookIfReadable(absolute);
    if (stats !== undefined && Math.abs(Date.now() - stats.ctimeMs) < RACY_MS) return undefined;
    parts.push(stats && [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs, stats.mode]);
  }
  return JSON.stringify(parts);
}

/** Reads the rules of a folder. `known`: the paths synced so far, which stay synced when a rule file is unreadable. */
export function readRules(folder: Folder, only: readonly string[], known: { has(path: string): boolean }): Rules {
  const stamp = stampOfRules(folder, only);
  const rules = ignore();
  const problems = new Map<string, string>();
  let isBlind = false;
  let hasRules = false;
  for (const [name, absolute] of [
    [RULES_FILE, folder.at(RULES_FILE)],
    ['.cairn/ignore', folder.own('ignore')],
  ] as const) {
    try {
      const text = readPlain(absolute)?.bytes.toString('utf8');
      if (text === undefined) continue;
      // Below, so that the rules here may take back what git leaves out.
      if (INCLUDES_GIT.test(text)) rules.add(readPlain(folder.at(GIT_RULES))?.bytes.toString('utf8') ?? '');
      rules.add(text);
      hasRules = true;
    } catch (error) {
      isBlind = true;
      problems.set(name, `It cannot be read (${codeOf(error)}), so no new files are synced.`);
    }
  }
  if (lookAt(folder.at(RULES_FILE))?.isDirectory() === true) {
    problems.set(RULES_FILE, 'It is a folder, so nothing is ignored; its files are synced.');
  }
  const isChosen = selection(only);
  return {
    stamp: isBlind ? undefined : stamp,
    problems,
    excludes(path) {
      // Every path that is asked for is remembered there.
      return (
        (hasRules && rules.ignores(path)) || !isChosen(path) || (isBlind && !path.endsWith('/') && !known.has(path))
      );
    },
  };
}

/**
 * Reads the patterns of a selection: a path is chosen when one of them matches it, or when there are only excluding ones,
 * and no excluding one (`!drafts/`) does, whatever their order. In an ignore file, a folder that is taken cannot be left
 * out again; a selection is not one.
 */
function selection(only: readonly string[]): (path: string) => boolean {
  if (only.length === 0) return () => true;
  const taken = only.filter((pattern) => !isExcluding(pattern));
  const takes = ignore().add(taken);
  const leaves = ignore().add(only.filter(isExcluding).map((pattern) => pattern.slice(1)));
  // A folder that is not chosen itself may contain what is.
  return (path) => !leaves.ignores(path) && (taken.length === 0 || path.endsWith('/') || takes.ignores(path));
}

const isExcluding = (pattern: string): boolean => pattern.startsWith('!');

/** Patterns of a selection that match none of these paths; an excluding one (`!drafts/`) need not match. */
export function unmatched(only: readonly string[], paths: Iterable<string>): string[] {
  const all = [...paths];
  return only.filter((pattern) => {
    const chosen = ignore().add(pattern);
    return !isExcluding(pattern) && !all.some((path) => chosen.ignores(path));
  });
}
