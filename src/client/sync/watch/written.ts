/**
 * Tells a thread which files a sync wrote itself, also while the loop of the sync is busy: a table in shared memory. It forgets what
 * later files take the place of.
 */
import type { Stats } from 'node:fs';
import type { SeenFile } from '../folder/file.ts';

/** Several pages of a pull. */
const SLOTS = 2 ** 14;

export class WrittenFiles {
  readonly shared: SharedArrayBuffer;
  /** Inode and time of the last change of each. */
  readonly #slots: Float64Array;

  /** `shared`: the table of another thread. */
  constructor(shared = new SharedArrayBuffer(SLOTS * 16)) {
    this.shared = shared;
    this.#slots = new Float64Array(shared);
  }

  note({ inode, changedMs }: SeenFile): void {
    const at = (inode % SLOTS) * 2;
    this.#slots[at] = inode;
    this.#slots[at + 1] = changedMs;
  }

  /** True for a file that has not changed since a sync wrote it. */
  has({ ino, ctimeMs }: Stats): boolean {
    const at = (ino % SLOTS) * 2;
    return this.#slots[at] === ino && this.#slots[at + 1] === ctimeMs;
  }
}
