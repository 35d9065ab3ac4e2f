/**
 * Selects the synced paths. Excludes paths matched by `.cairnignore` (shared) or `.cairn/ignore` (this device
 * only). With a selection of this device (`--only`), also excludes all unselected paths.
 * The pattern syntax is that of .gitignore.
 */
import ignore from 'ignore';
import { codeOf, lookAt, readPlain } from './file.ts';
import type { SyncedFolder } from './folder.ts';
import type { FolderPath } from './path.ts';

const SHARED = '.cairnignore' as FolderPath;

export interface Rules {
  /** True for an excluded path; the path of a folder ends with a slash. */
  readonly excludes: (path: string) => boolean;
  /** Problems of the rule files, by path. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Reads the rules of a folder. `known`: the paths synced so far, which stay synced when a rule file is unreadable. */
export function readRules(folder: SyncedFolder, only: readonly string[], known: { has(path: string): boolean }): Rules {
  const rules = ignore();
  const problems = new Map<string, string>();
  let isBlind = false;
  for (const [name, absolute] of [
    [SHARED, folder.at(SHARED)],
    ['.cairn/ignore', folder.own('ignore')],
  ] as const) {
    try {
      const text = textOf(absolute);
      if (text === undefined) continue;
      rules.add(text);
    } catch (error) {
      isBlind = true;
      problems.set(name, `It cannot be read (${codeOf(error)}), so no new files are synced.`);
    }
  }
  if (lookAt(folder.at(SHARED))?.isDirectory() === true) {
    problems.set(SHARED, 'It is a folder, so nothing is ignored; its files are synced.');
  }
  const chosen = only.length === 0 ? undefined : ignore().add([...only]);
  return {
    problems,
    excludes(path) {
      if (rules.ignores(path)) return true;
      if (path.endsWith('/')) return false;
      return (chosen !== undefined && !chosen.ignores(path)) || (isBlind && !known.has(path));
    },
  };
}

/** Patterns of a selection that match none of these paths; an excluding one (`!drafts/`) need not match. */
export function unmatched(only: readonly string[], paths: Iterable<string>): string[] {
  const all = [...paths];
  return only.filter((pattern) => {
    const chosen = ignore().add(pattern);
    return !pattern.startsWith('!') && !all.some((path) => chosen.ignores(path));
  });
}

function textOf(absolute: string): string | undefined {
  return readPlain(absolute)?.bytes.toString('utf8');
}
