/**
 * Checks the identity of a synced folder: the same directory, containing its `.cairn` folder, as when the sync began. A
 * moved, replaced or unmounted folder is detected before any file is written or counted as deleted.
 */
import { lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { codeOf } from './file.ts';
import { OWN_FOLDER } from './path.ts';

/** The folder is not the one with which the sync began, so no file in it may be touched. */
export class RootGone extends ClientError {}

export class Root {
  /** Absolute path with links resolved. */
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

  /** Opens a folder, creating it when missing. Throws ClientError. */
  static open(folder: string): Root {
    try {
      mkdirSync(folder, { recursive: true });
      return new Root(realpathSync(folder));
    } catch (error) {
      throw new ClientError(`${folder} cannot be opened (${codeOf(error)}); check --folder.`);
    }
  }

  /** Opens an existing folder. Throws an error of the system. */
  static at(folder: string): Root {
    return new Root(realpathSync(folder));
  }

  /** True when a subfolder is on another filesystem than this folder. Undefined when it cannot be inspected. */
  isElsewhere(path: string): boolean | undefined {
    try {
      const stats = lstatSync(join(this.path, path), { throwIfNoEntry: false });
      return stats !== undefined && stats.dev !== this.#device;
    } catch {
      // Not permitted, or a network filesystem without its server.
      return undefined;
    }
  }

  /** True once its `.cairn` folder was seen: from then on, a missing one means that the folder is another one. */
  get hasOwnFolder(): boolean {
    return this.#hasOwnFolder;
  }

  /** Throws RootGone when the folder is no longer the one that was opened. */
  check(): void {
    const stats = lstatSync(this.path, { throwIfNoEntry: false });
    if (stats?.ino !== this.inode || stats.dev !== this.#device) throw this.#gone();
    const own = lstatSync(join(this.path, OWN_FOLDER), { throwIfNoEntry: false });
    if (own?.isDirectory() === true) this.#hasOwnFolder = true;
    else if (own !== undefined || this.#hasOwnFolder) throw this.#gone();
  }

  /** False while it is moved away or unmounted, or another one is in its place. */
  get isThere(): boolean {
    try {
      this.check();
      return true;
    } catch {
      return false;
    }
  }

  #gone(): RootGone {
    return new RootGone(
      `${this.path} was moved, replaced or unmounted, or its ${OWN_FOLDER} folder is gone; nothing was deleted on the hub. Bring it back and start again.`,
    );
  }
}
