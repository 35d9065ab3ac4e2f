/**
 * Tells a thread which files a sync wrote itself, also while the loop of the sync is busy: a table in shared memory. It forgets what
 * later files take the place of.
 */
import type { Stats } from 'node:fs';
import type { SeenFile } from '../folder/file.ts';

/** Several pages of a pull. */
const SLOTS = 2 ** 14;
const FIELDS = 3;

export class WrittenFiles {
  readonly shared: SharedArrayBuffer;
  /** Of each, its inode, the time of its last change and the one that it was given: a save within the resolution of the disk's clock has another. */
  readonly #slots: Float64Array;

  /** `shared`: the table of another thread. */
  constructor(shared = new SharedArrayBuffer(SLOTS * FIELDS * 8)) {
    this.shared = shared;
    this.#slots = new Float64Array(shared);
  }

  note({ inode, changedMs, modifiedMs }: SeenFile): void {
    this.#slots.set([inode, changedMs, modifiedMs], (inode % SLOTS) * FIELDS);
  }

  /** True for a file that has not changed since a sync wrote it. */
  has({ ino, ctimeMs, mtimeMs }: Pick<Stats, 'ino' | 'ctimeMs' | 'mtimeMs'>): boolean {
    const at = (ino % SLOTS) * FIELDS;
    return this.#slots[at] === ino && this.#slots[at + 1] === ctimeMs && this.#slots[at + 2] === mtimeMs;
  }
}
