/** A small disk for the data folder of one member, which outlives its process and can be filled. Needs root. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const MEBIBYTES = 96;
const MEBIBYTE = 1024 * 1024;

export class OwnDisk {
  readonly folder = temporaryFolder();

  constructor() {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MEBIBYTES}m,mode=0700`, 'tmpfs', this.folder]);
  }

  /** Writes a file until nothing more fits. */
  fill(): void {
    const file = openSync(this.#filler, 'w');
    for (let bytes = MEBIBYTE; bytes >= 1; bytes /= 2) {
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
    closeSync(file);
  }

  free(): void {
    rmSync(this.#filler);
  }

  close(): void {
    // The files go with it.
    execFileSync('umount', ['--lazy', this.folder]);
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }
}
