/**
 * Owns names that differ only in case or Unicode form. The hub takes them for one file, so a folder does too: it never gets
 * a twin of a file, and a file that gets another spelling here is renamed on the hub.
 */
import { foldCase } from '../../text/fold-case.ts';
import { Unwritable } from './folder/folder.ts';
import type { FolderPath } from './folder/path.ts';
import type { Scan } from './folder/scan.ts';
import type { SyncSession } from './session.ts';
import type { SyncState } from './state.ts';

/** Names by what is compared of them. */
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

  /** Names that are the same but for their spelling. */
  others(name: string): readonly FolderPath[] {
    return (this.#names.get(foldCase(name)) ?? []).filter((other) => other !== name);
  }
}

/** Gives files of a folder the spelling that the hub has. */
export class Spellings {
  readonly #session: SyncSession;
  readonly #local: Scan;
  /** Every name that is known here: on disk, in the base record, and among what waits. Made when it is needed. */
  #names: NameIndex | undefined;

  constructor(session: SyncSession, local: Scan) {
    this.#session = session;
    this.#local = local;
  }

  /** Before a change of the hub is taken in: so that it meets the file that it is about. `sha256` undefined: a delete. */
  adoptFrom(path: FolderPath, sha256: string | undefined): void {
    const { base } = this.#session.state;
    // Nothing new there: another spelling is a change that was made here.
    if (sha256 !== undefined && base.get(path)?.sha256 === sha256) return;
    // A new file here is not the one that was deleted there, whatever its spelling.
    const isKnown = base.has(path) || this.#others(path).some((other) => base.has(other));
    if (sha256 !== undefined || isKnown) this.adopt(path);
  }

  /**
   * Makes `path` the name of the file that is known here in another spelling: on disk, in the base record, and among what
   * waits. A file that has that very name here already keeps it, and so does the other one.
   */
  adopt(path: FolderPath): void {
    const { folder, state, tell } = this.#session;
    const { files } = this.#local;
    for (const other of this.#others(path)) {
      for (const record of [state.base, state.waits, state.sent]) move<unknown>(record, other, path);
      const file = files.get(other);
      if (file === undefined || files.has(path)) continue;
      try {
        if (!folder.rename(other, path)) continue;
      } catch (error) {
        // What cannot be written at the path is reported by the write itself.
        if (error instanceof Unwritable) continue;
        throw error;
      }
      files.delete(other);
      files.set(path, file);
      tell({ verb: 'renamed', path, note: `it was ${other} here` });
    }
  }

  #others(path: string): readonly FolderPath[] {
    const { base, waits } = this.#session.state;
    this.#names ??= new NameIndex([...this.#local.files.keys(), ...base.keys(), ...waits.keys()]);
    return this.#names.others(path);
  }
}

/** What waits does so under the name that the hub has; a push that was refused waits under its name here. */
export function settleWaitingNames(session: SyncSession, local: Scan): void {
  if (session.state.waits.size === 0) return;
  const spellings = new Spellings(session, local);
  for (const [path, { kind }] of session.state.waits) if (kind !== 'push') spellings.adopt(path);
}

/**
 * The hub has one file for all spellings of a name. Where two were agreed on, a missing one was not deleted; and of two that
 * are here nobody knows which is the hub's, so both are sent anew, and the hub refuses the other one.
 */
export function forgetDoubles({ files }: Scan, { base }: SyncState): void {
  const names = new NameIndex(base.keys());
  for (const path of base.keys()) {
    const others = names.others(path).filter((other) => files.has(other));
    if (others.length > 0) base.delete(path);
  }
}

/** Files that are here in another spelling than in the base record: the new name, with the one that the hub has. */
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
