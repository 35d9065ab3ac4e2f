/** Finds names that differ only in case or Unicode form, which the hub treats as one file. Pure. */
import { foldCase } from '../../../text/fold-case.ts';
import type { Names } from '../base/name-map.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../scan/scan.ts';

/** Index of names by their case-folded form. */
export class NameIndex {
  readonly #names = new Map<string, FolderPath[]>();

  constructor(names: Iterable<FolderPath>) {
    for (const name of new Set(names)) {
      const folded = foldCase(name);
      const same = this.#names.get(folded);
      if (same === undefined) this.#names.set(folded, [name]);
      else same.push(name);
    }
  }

  /** Names that differ from this one only in spelling. */
  others(name: string): readonly FolderPath[] {
    return (this.#names.get(foldCase(name)) ?? []).filter((other) => other !== name);
  }
}

/**
 * Duplicate spellings in the base record, to be forgotten. The hub has one file for all spellings of a name, so if two
 * were agreed on, a missing one was not deleted. If both exist here, it is unknown which is the hub's: both are sent
 * again, and the hub refuses the other one. They are compared with the hub: the pull leaves out changes that this folder
 * made. `among`: the paths that may be a part of one.
 */
export function doublesIn(
  { base }: { readonly base: ReadonlyMap<FolderPath, unknown> & Names },
  { files }: { readonly files: ReadonlyMap<FolderPath, unknown> },
  among: Iterable<FolderPath>,
): FolderPath[] {
  const found = new Set<FolderPath>();
  for (const one of among) {
    const group = [one, ...base.others(one)].filter((path) => base.has(path));
    for (const path of group) if (group.some((other) => other !== path && files.has(other))) found.add(path);
  }
  return [...found];
}

/** Files spelled differently here than in the base record: local name to the hub's name. `among`: paths that differ. */
export function respelledHere(
  { files, leavesOut }: LocalNames,
  { base, waits }: Record<'base' | 'waits', ReadonlyMap<FolderPath, unknown>>,
  among: Iterable<FolderPath>,
): Map<FolderPath, FolderPath> {
  const found = new Map<FolderPath, FolderPath>();
  const paths = [...among];
  const gone = paths.filter((path) => base.has(path) && !files.has(path) && !waits.has(path) && !leavesOut(path));
  if (gone.length === 0) return found;
  const names = new NameIndex(gone);
  const taken = new Set<FolderPath>();
  for (const path of paths) {
    if (!files.has(path) || base.has(path)) continue;
    const former = names.others(path).find((other) => !taken.has(other));
    if (former === undefined) continue;
    taken.add(former);
    found.set(path, former);
  }
  return found;
}

interface LocalNames extends Pick<Scan, 'leavesOut'> {
  readonly files: ReadonlyMap<FolderPath, unknown>;
}
