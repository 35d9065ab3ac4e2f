/** Looks through a folder before its first push for what a newcomer rarely wants on a hub. Reads no content. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { lookIfReadable } from '../folder/file.ts';
import type { SyncedFolder } from '../folder/folder.ts';
import { isReserved } from '../folder/path.ts';
import { largeKinds, ruleOfMadeAgain, type Suggestion } from '../plan/newcomer.ts';
import { readRules } from '../scan/choice.ts';

const NONE: ReadonlySet<string> = new Set();

/** What could be left out, the largest first. What the rules of the folder leave out already is not counted. */
export async function surveyFolder(folder: SyncedFolder, only: readonly string[]): Promise<Suggestion[]> {
  const rules = readRules(folder, only, NONE);
  const made = new Map<string, Suggestion>();
  const rest: { path: string; bytes: number }[] = [];
  const left: { below: string; rule: string | undefined }[] = [{ below: '', rule: undefined }];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const entries = entriesOf(join(folder.root.path, at.below));
    const names = new Set(entries.map(({ name }) => name));
    for (const entry of entries) {
      const path = at.below === '' ? entry.name : `${at.below}/${entry.name}`;
      const isFolder = entry.isDirectory();
      if (isReserved(entry.name) || rules.excludes(isFolder ? `${path}/` : path)) continue;
      if (isFolder) left.push({ below: path, rule: at.rule ?? ruleOfMadeAgain(path, names) });
      else if (entry.isFile()) {
        const bytes = lookIfReadable(join(folder.root.path, path))?.size ?? 0;
        if (at.rule === undefined) rest.push({ path, bytes });
        else made.set(at.rule, added(made.get(at.rule), at.rule, bytes));
      }
    }
    await setImmediate();
  }
  return [...made.values(), ...largeKinds(rest)].sort((a, b) => b.bytes - a.bytes);
}

function added(before: Suggestion | undefined, rule: string, bytes: number): Suggestion {
  return { rule, files: (before?.files ?? 0) + 1, bytes: (before?.bytes ?? 0) + bytes };
}

/** The entries of a folder; none where it cannot be read, which the scan lists. */
function entriesOf(absolute: string): Dirent[] {
  try {
    return readdirSync(absolute, { withFileTypes: true });
  } catch {
    return [];
  }
}
