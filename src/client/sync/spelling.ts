/**
 * Handles names that differ only in case or Unicode form. The hub treats them as one file, so a folder does too: it
 * never gets two spellings of one file, and a file respelled here is renamed on the hub.
 */
import { foldCase } from '../../text/fold-case.ts';
import type { FolderPath } from './folder/path.ts';
import type { Scan } from './folder/scan.ts';
import { Unwritable } from './folder/unwritable.ts';
import type { Replica } from './replica.ts';
import type { SyncState } from './state.ts';

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

/** Renames files of a folder to the spelling used by the hub. */
export class Spellings {
  readonly #replica: Replica;
  readonly #local: Scan;
  /** Every known name: on disk, in the base record, and among the waiting paths. Built on first use. */
  #names: NameIndex | undefined;

  constructor(replica: Replica, local: Scan) {
    this.#replica = replica;
    this.#local = local;
  }

  /**
   * Adopts the spelling of a hub change, so that it is applied to the right file. `sha256` undefined: a delete. Returns the
   * spelling that the file keeps here when it cannot be renamed.
   */
  adoptFrom(path: FolderPath, sha256: string | undefined): FolderPath | undefined {
    const { base } = this.#replica.state;
    // Unchanged on the hub: another spelling is a local change.
    if (sha256 !== undefined && base.get(path)?.sha256 === sha256) return undefined;
    // A new local file is not the one deleted on the hub, whatever its spelling.
    return sha256 !== undefined || this.isAgreed(path) ? this.adopt(path) : undefined;
  }

  /** True when both sides agreed on a file of this name, in any spelling. */
  isAgreed(path: FolderPath): boolean {
    const { base } = this.#replica.state;
    return base.has(path) || this.#others(path).some((other) => base.has(other));
  }

  /**
   * Renames the file known here in another spelling to `path`: on disk, in the base record, and among the waiting
   * paths. If a file with this exact name already exists, both files keep their names. Returns the spelling of a file that
   * cannot be renamed: its records keep it too, so that it does not look like a file renamed by the user.
   */
  adopt(path: FolderPath): FolderPath | undefined {
    const { state, tell } = this.#replica;
    const { files } = this.#local;
    let kept: FolderPath | undefined;
    for (const other of this.#others(path)) {
      const file = files.get(other);
      if (file !== undefined && !files.has(path)) {
        if (!this.#isRenamed(other, path)) {
          kept = other;
          continue;
        }
        files.delete(other);
        files.set(path, file);
        tell({ verb: 'renamed', path, note: `it was ${other} here` });
      }
      for (const record of [state.base, state.waits, state.sent]) move<unknown>(record, other, path);
    }
    return kept;
  }

  /** Forgets what waits under other spellings of a name that was compared just now; a refused push keeps its name. */
  forgetOthers(path: FolderPath): void {
    const { waits } = this.#replica.state;
    for (const other of this.#others(path)) if (waits.get(other)?.kind !== 'push') waits.delete(other);
  }

  #isRenamed(from: FolderPath, to: FolderPath): boolean {
    try {
      return this.#replica.folder.rename(from, to);
    } catch (error) {
      if (error instanceof Unwritable) return false;
      throw error;
    }
  }

  #others(path: string): readonly FolderPath[] {
    const { base, waits } = this.#replica.state;
    this.#names ??= new NameIndex([...this.#local.files.keys(), ...base.keys(), ...waits.keys()]);
    return this.#names.others(path);
  }
}

/** Renames waiting paths to the hub's spelling; a refused push keeps its local name. */
export function settleWaitingNames(replica: Replica, local: Scan): void {
  const { state, due } = replica;
  if (state.waits.size === 0) return;
  const named = [...state.waits].filter(([, { kind }]) => kind !== 'push').map(([path]) => path);
  const names = new NameIndex(named);
  const spellings = new Spellings(replica, local);
  for (const path of named) {
    // One file of the hub that waits in two spellings, an older one and its own, is compared again.
    if (names.others(path).length > 0) due.add(path);
    else spellings.adopt(path);
  }
}

/**
 * Removes duplicate spellings from the base record. The hub has one file for all spellings of a name, so if two were
 * agreed on, a missing one was not deleted. If both exist here, it is unknown which is the hub's: both are sent again,
 * and the hub refuses the other one. Returns the forgotten names, to be compared with the hub: the pull leaves out changes
 * that this folder made.
 */
export function forgetDoubles({ files }: Scan, { base }: SyncState): FolderPath[] {
  const names = new NameIndex(base.keys());
  const doubles = [...base.keys()].filter((path) => names.others(path).some((other) => files.has(other)));
  for (const path of doubles) base.delete(path);
  return doubles;
}

/** Files spelled differently here than in the base record: local name to the hub's name. */
export function respelledHere({ files, leavesOut }: Scan, { base, waits }: SyncState): Map<FolderPath, FolderPath> {
  const found = new Map<FolderPath, FolderPath>();
  const gone = [...base.keys()].filter((path) => !files.has(path) && !waits.has(path) && !leavesOut(path));
  if (gone.length === 0) return found;
  const names = new NameIndex(gone);
  const taken = new Set<FolderPath>();
  for (const path of files.keys()) {
    if (base.has(path)) continue;
    const former = names.others(path).find((other) => !taken.has(other));
    if (former === undefined) continue;
    taken.add(former);
    found.set(path, former);
  }
  return found;
}

function move<T>(record: Map<FolderPath, T>, from: FolderPath, to: FolderPath): void {
  const moved = record.get(from);
  if (moved === undefined || record.has(to)) return;
  record.set(to, moved);
  record.delete(from);
}
