/** A folder that is written for people: nothing in it is overwritten, and nothing leaves it. */
import { chmodSync, closeSync, linkSync, mkdirSync, openSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeWhole } from '../../store/data-file/write-whole.ts';

export class PlainFolder {
  readonly #root: string;
  readonly #onBytes: (bytes: number) => void;
  readonly #left: string[] = [];
  #files = 0;
  #bytes = 0;

  /** `root` must exist. `onBytes` receives the number of bytes written so far. */
  constructor(root: string, onBytes: (bytes: number) => void) {
    this.#root = root;
    this.#onBytes = onBytes;
  }

  get files(): number {
    return this.#files;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** What could not be written, one sentence each. */
  get leftOut(): readonly string[] {
    return this.#left;
  }

  leaveOut(what: string): void {
    this.#left.push(what);
  }

  /** Writes a file of the parts. A name that this disk cannot hold is left out and told; other errors are thrown. */
  async write(
    path: string,
    parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array | string>,
    about: { readonly modified?: string; readonly executable?: boolean } = {},
  ): Promise<void> {
    let place: string;
    let descriptor: number;
    try {
      place = this.#placeOf(path);
      descriptor = openSync(place, 'wx', 0o600);
    } catch (error) {
      if (!isAboutName(error)) throw error;
      this.leaveOut(`${path}: its name cannot be used on this disk (${String(error.code)})`);
      return;
    }
    try {
      for await (const part of parts) {
        const bytes = typeof part === 'string' ? Buffer.from(part) : part;
        writeWhole(descriptor, bytes);
        this.#count(bytes.length);
      }
    } finally {
      closeSync(descriptor);
    }
    this.#files += 1;
    if (about.executable === true) chmodSync(place, 0o700);
    if (about.modified !== undefined) utimesSync(place, new Date(about.modified), new Date(about.modified));
  }

  /** Gives a file that lies on the same disk a second name here. */
  link(from: string, path: string): void {
    linkSync(from, this.#placeOf(path));
    this.#files += 1;
  }

  /** Begins a file that is written line by line. */
  lines(path: string): LineSink {
    const descriptor = openSync(this.#placeOf(path), 'wx', 0o600);
    this.#files += 1;
    return {
      write: (text) => this.#count(writeWhole(descriptor, Buffer.from(text))),
      close: () => closeSync(descriptor),
    };
  }

  /** The path of a file to write, in a folder that is there. */
  #placeOf(path: string): string {
    const place = join(this.#root, path);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    return place;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#onBytes(this.#bytes);
  }
}

export interface LineSink {
  readonly write: (text: string) => void;
  readonly close: () => void;
}

const NAME_ERRORS = new Set(['ENAMETOOLONG', 'EISDIR', 'ENOTDIR', 'EEXIST', 'EILSEQ', 'EINVAL']);

function isAboutName(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && NAME_ERRORS.has((error as NodeJS.ErrnoException).code ?? '');
}
