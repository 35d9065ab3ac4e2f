/**
 * Handles names that differ only in case or Unicode form. The hub treats them as one file, so a folder does too: it
 * never gets two spellings of one file, and a file respelled here is renamed on the hub.
 */
import type { FolderPath } from '../folder/path.ts';
import { Unwritable } from '../folder/unwritable.ts';
import { NameIndex } from '../plan/names.ts';
import type { Replica } from '../replica.ts';
import type { SyncStep } from '../round.ts';
import type { Scan } from '../scan/scan.ts';

/** Renames files of a folder to the spelling used by the hub. */
export class Spellings {
  readonly #replica: Replica;
  readonly #local: Scan;

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
      state.respell(other, path);
    }
    return kept;
  }

  /** Forgets what waits under other spellings of a name that was compared just now; a refused push keeps its name. */
  forgetOthers(path: FolderPath): void {
    const { state } = this.#replica;
    for (const other of this.#others(path)) if (state.waits.get(other)?.kind !== 'push') state.endWait(other);
  }

  #isRenamed(from: FolderPath, to: FolderPath): boolean {
    try {
      return this.#replica.folder.rename(from, to);
    } catch (error) {
      if (error instanceof Unwritable) return false;
      throw error;
    }
  }

  /** Every known name: on disk, in the base record, and among the waiting paths. */
  #others(path: string): readonly FolderPath[] {
    const { base, waits } = this.#replica.state;
    return [...new Set([this.#local.files, base, waits].flatMap((names) => names.others(path)))];
  }
}

/** Renames waiting paths to the hub's spelling; a refused push keeps its local name. */
export function settleWaitingNames(step: SyncStep, local: Scan): void {
  const { state, next } = step;
  if (state.waits.size === 0) return;
  const named = [...state.waits].filter(([, { kind }]) => kind !== 'push').map(([path]) => path);
  const names = new NameIndex(named);
  const spellings = new Spellings(step, local);
  for (const path of named) {
    // One file of the hub that waits in two spellings, an older one and its own, is compared again.
    if (names.others(path).length > 0) next.due.add(path);
    else spellings.adopt(path);
  }
}
