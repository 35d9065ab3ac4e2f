/** Finds contents already in this folder under another name, so that a rename on another device needs no download. */
import { Unreadable } from '../folder/file.ts';
import type { FolderPath } from '../folder/path.ts';
import type { Scan } from '../folder/scan.ts';
import type { Replica } from '../replica.ts';

export class HeldContents {
  readonly #folder: Replica['folder'];
  readonly #local: Scan;
  #paths: ReadonlyMap<string, FolderPath> | undefined;

  constructor({ folder }: Replica, local: Scan) {
    this.#folder = folder;
    this.#local = local;
  }

  /** The bytes with a hash, read and hashed now: from a file in place, or from one just removed or replaced. */
  find(sha256: string): Buffer | undefined {
    this.#paths ??= new Map([...this.#local.files].map(([path, file]) => [file.sha256, path]));
    const path = this.#paths.get(sha256);
    const content = (path && this.#read(path)) ?? this.#folder.asides.find(sha256);
    return content?.sha256 === sha256 ? content.bytes : undefined;
  }

  #read(path: FolderPath) {
    try {
      const content = this.#folder.read(path);
      return content?.sha256 === this.#local.files.get(path)?.sha256 ? content : undefined;
    } catch (error) {
      if (error instanceof Unreadable) return undefined;
      throw error;
    }
  }
}
