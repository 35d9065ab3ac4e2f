/**
 * Owns names that differ only in case or Unicode form. The hub takes them for one file, so a folder does too: it never gets
 * a twin of a file, and a file that gets another spelling here is renamed on the hub.
 */
import { foldCase } from '../../text/fold-case.ts';
import { respell, Unwritable } from './files.ts';
import type { RemoteRecord } from './hub.ts';
import type { Scan } from './scan.ts';
import { type SyncSession, scan } from './session.ts';
import type { SyncState } from './state.ts';

/** Names by what is compared of them. */
export class NameIndex {
  readonly #names = new Map<string, string[]>();

  constructor(names: Iterable<string>) {
    for (const name of new Set(names)) {
      const folded = foldCase(name);
      const same = this.#names.get(folded);
      if (same === undefined) this.#names.set(folded, [name]);
      else same.push(name);
    }
  }

  /** Names that are the same but for their spelling. */
  others(name: string): readonly string[] {
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

  /** Before a change of the hub is taken in: so that it meets the file that it is about. */
  adoptFrom(record: RemoteRecord): void {
    const { base } = this.#session.state;
    const { path } = record;
    // Nothing new there: another spelling is a change that was made here.
    if (record.type === 'file' && base[path]?.sha256 === record.sha256) return;
    // A new file here is not the one that was deleted there, whatever its spelling.
    const isKnown = base[path] !== undefined || this.#others(path).some((other) => base[other] !== undefined);
    if (record.type === 'file' || isKnown) this.adopt(path);
  }

  /**
   * Makes `path` the name of the file that is known here in another spelling: on disk, in the base record, and among what
   * waits. A file that has that very name here already keeps it, and so does the other one.
   */
  adopt(path: string): void {
    const { folder, state, tell } = this.#session;
    const { files } = this.#local;
    for (const other of this.#others(path)) {
      move(state.base, other, path);
      move(state.conflicts, other, path);
      const file = files.get(other);
      if (file === undefined || files.has(path)) continue;
      try {
        if (!respell(folder, other, path)) continue;
      } catch (error) {
        // What cannot be written at the path is told by who tries to write it.
        if (error instanceof Unwritable) continue;
        throw error;
      }
      files.delete(other);
      files.set(path, file);
      tell({ verb: 'renamed', path, note: `it was ${other} here` });
    }
  }

  #others(path: string): readonly string[] {
    const { base, conflicts } = this.#session.state;
    this.#names ??= new NameIndex([...this.#local.files.keys(), ...Object.keys(base), ...Object.keys(conflicts)]);
    return this.#names.others(path);
  }
}

/** What waits for the user does so under the name that the hub has. */
export function settleWaitingNames(session: SyncSession): void {
  const waiting = Object.keys(session.state.conflicts);
  if (waiting.length === 0) return;
  const spellings = new Spellings(session, scan(session, false));
  for (const path of waiting) spellings.adopt(path);
}

/** Files that are here in another spelling than in the base record: the new name, with the one that the hub has. */
export function respelledHere({ files, leavesOut }: Scan, { base, conflicts }: SyncState): Map<string, string> {
  const found = new Map<string, string>();
  const gone = Object.keys(base).filter(
    (path) => !files.has(path) && conflicts[path] === undefined && !leavesOut(path),
  );
  if (gone.length === 0) return found;
  const names = new NameIndex(gone);
  const taken = new Set<string>();
  for (const path of files.keys()) {
    if (base[path] !== undefined) continue;
    const former = names.others(path).find((other) => !taken.has(other));
    if (former === undefined) continue;
    taken.add(former);
    found.set(path, former);
  }
  return found;
}

function move<T>(record: Record<string, T>, from: string, to: string): void {
  const moved = record[from];
  if (moved === undefined || record[to] !== undefined) return;
  record[to] = moved;
  delete record[from];
}
