/**
 * Owns the identity of a synced folder: the same directory, with our own folder in it, as when the sync began. A folder
 * that was moved, replaced or unmounted is noticed before anything is written or counted as deleted.
 */
import { lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { codeOf } from './file.ts';
import { OWN_FOLDER } from './path.ts';

/** The folder is not the one that the sync began with; nothing can be done in it. */
export class RootGone extends ClientError {}

export class Root {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly inode: number;
  readonly #device: number;
  #hasOwnFolder = false;

  private constructor(path: string) {
    const stats = statSync(path);
    this.path = path;
    this.inode = stats.ino;
    this.#device = stats.dev;
  }

  /** Opens a folder, made when it is not there. Throws ClientError. */
  static open(folder: string): Root {
    try {
      mkdirSync(folder, { recursive: true });
      return new Root(realpathSync(folder));
    } catch (error) {
      throw new ClientError(`${folder} cannot be opened (${codeOf(error)}); check --folder.`);
    }
  }

  /** Whether a folder below is on another filesystem than this one. Undefined: it cannot be looked at. */
  isElsewhere(path: string): boolean | undefined {
    try {
      const stats = lstatSync(join(this.path, path), { throwIfNoEntry: false });
      return stats !== undefined && stats.dev !== this.#device;
    } catch {
      // Not permitted, or a network filesystem that has lost its server.
      return undefined;
    }
  }

  /** Throws RootGone when the folder is another one than at the beginning. */
  check(): void {
    const stats = lstatSync(this.path, { throwIfNoEntry: false });
    if (stats?.ino !== this.inode || stats.dev !== this.#device) throw this.#gone();
    const own = lstatSync(join(this.path, OWN_FOLDER), { throwIfNoEntry: false });
    if (own?.isDirectory() === true) this.#hasOwnFolder = true;
    else if (own !== undefined || this.#hasOwnFolder) throw this.#gone();
  }

  #gone(): RootGone {
    return new RootGone(
      `${this.path} was moved, replaced or unmounted, or its ${OWN_FOLDER} folder is gone; nothing was deleted on the hub. Bring it back and start again.`,
    );
  }
}
