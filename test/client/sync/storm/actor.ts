/** One user in a storm: what a person, an editor or a program can do to the files of a folder, noted in the ledger. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hashOf, type Ledger, type SeenFile } from './ledger.ts';

const NAMES = ['a', 'b', 'c', 'readme', 'README', 'Notiz', 'é', 'e\u0301', 'constructor', '__proto__', 'x y'];
const FOLDERS = ['', '', 'docs', 'docs/deep', 'src', 'Src', 'Grüße', 'tmp'];
const MiB = 2 ** 20;

export interface ActorOptions {
  readonly folder: string;
  /** A folder that is not synced, for links to point at. */
  readonly outside: string;
  readonly random: () => number;
  readonly ledger: Ledger;
  /** Whether the watch of this folder runs and its hub is there. */
  readonly isServed: () => boolean;
}

/** A file that a program has open. */
interface OpenFile {
  readonly descriptor: number;
  readonly path: string;
  readonly inode: number;
}

export class Actor {
  readonly #options: ActorOptions;
  readonly #open: OpenFile[] = [];
  #written = 0;

  constructor(options: ActorOptions) {
    this.#options = options;
  }

  chance(part: number): boolean {
    return this.#options.random() < part;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#options.random() * items.length)] as T;
  }

  at(path: string): string {
    return join(this.#options.folder, path);
  }

  /** A name that may be free. */
  somePath(): string {
    const name = `${this.pick(NAMES)}${Math.floor(this.#options.random() * 6)}.${this.pick(['md', 'txt', 'bin'])}`;
    return join(this.pick(FOLDERS), name);
  }

  /** Files and folders that are there, as paths in the folder; never through a link. */
  #entries(kind: 'isFile' | 'isDirectory', below = ''): string[] {
    return readdirSync(join(this.#options.folder, below), { withFileTypes: true }).flatMap((entry) => {
      const path = join(below, entry.name);
      if (path === '.cairn' || path === '.cairnignore') return [];
      const inside = entry.isDirectory() ? this.#entries(kind, path) : [];
      return entry[kind]() ? [path, ...inside] : inside;
    });
  }

  /** A file that is there. */
  someFile(): string | undefined {
    return this.pick(this.#entries('isFile'));
  }

  someFolder(): string | undefined {
    return this.pick(this.#entries('isDirectory'));
  }

  /** Bytes that nothing else in the storm has: mostly a line or two, now and then very many, now and then binary. */
  bytes(): Buffer {
    this.#written += 1;
    const mark = `${this.#options.folder.slice(-6)} ${this.#written}\n`;
    if (this.chance(0.002)) return Buffer.alloc(9 * MiB, mark);
    if (this.chance(0.02)) return Buffer.alloc(200_000, mark);
    if (this.chance(0.1)) return Buffer.from([0, 255, 254, ...Buffer.from(mark), 0]);
    return Buffer.from(
      `first line\n${mark}${'more of the same\n'.repeat(Math.floor(this.#options.random() * 20))}last line\n`,
    );
  }

  /** Writes a file in place; `bytes` undefined: new ones. */
  write(path: string, bytes: Buffer = this.bytes()): boolean {
    if (this.#isLinked(path)) return false;
    this.leave(path);
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), bytes);
    chmodSync(this.at(path), lstatSync(this.at(path)).mode | 0o400);
    this.note(path, bytes);
    return true;
  }

  /**
   * Appends to a file. What it has then is read from the same open file: a watch may have replaced it since it was listed, so
   * that what stood there before and these bytes were never one file.
   */
  append(path: string, more: Buffer): boolean {
    this.leave(path);
    const descriptor = openSync(this.at(path), 'a+');
    try {
      writeSync(descriptor, more);
      this.note(path, readFileSync(`/proc/self/fd/${descriptor}`));
    } finally {
      closeSync(descriptor);
    }
    return true;
  }

  /** What stood at a path, or below it, is about to go by the hand of its user. */
  leave(path: string): void {
    const { ledger, folder, isServed } = this.#options;
    ledger.left(folder, this.#seenAt(path), isServed());
  }

  /** The files at a path or below it, as another program may have left them. */
  #seenAt(path: string): SeenFile[] {
    const stats = lstatSync(this.at(path), { throwIfNoEntry: false });
    const files =
      stats?.isDirectory() === true ? this.#entries('isFile', path) : stats?.isFile() === true ? [path] : [];
    return files.map((one) => {
      const bytes = readFileSync(this.at(one));
      return { path: one, sha256: hashOf(bytes), size: bytes.length, changedMs: lstatSync(this.at(one)).ctimeMs };
    });
  }

  /** A file has these bytes now. */
  note(path: string, bytes: Buffer): void {
    const { ledger, folder } = this.#options;
    ledger.wrote(folder, path, bytes);
    const isReadable = (lstatSync(this.at(path)).mode & 0o400) !== 0;
    const file = { path, sha256: hashOf(bytes), size: bytes.length, changedMs: Date.now() };
    if (!isReadable) ledger.hidden(folder, [file], false);
  }

  /** Moves what is at a path, files below it too. Its bytes stay with the user. */
  move(from: string, to: string): boolean {
    if (to === from || to.startsWith(`${from}/`) || existsSync(this.at(to)) || this.#isLinked(to)) return false;
    mkdirSync(dirname(this.at(to)), { recursive: true });
    const { ledger, folder, isServed } = this.#options;
    ledger.moved(folder, this.#seenAt(from), isServed());
    renameSync(this.at(from), this.at(to));
    return true;
  }

  /** Whether a link is at a path or on the way to it: what is written there is not in the folder. */
  #isLinked(path: string): boolean {
    const parts = path.split('/');
    return parts.some((_, at) => {
      const stats = lstatSync(this.at(parts.slice(0, at + 1).join('/')), { throwIfNoEntry: false });
      return stats?.isSymbolicLink() === true;
    });
  }

  remove(path: string): boolean {
    this.leave(path);
    rmSync(this.at(path), { recursive: true });
    return true;
  }

  /** Makes a link to a file or folder elsewhere, or to nothing. */
  link(path: string): boolean {
    if (existsSync(this.at(path))) return false;
    mkdirSync(dirname(this.at(path)), { recursive: true });
    const { outside } = this.#options;
    symlinkSync(this.pick([outside, join(outside, 'secret.txt'), 'nowhere']), this.at(path));
    return true;
  }

  ignore(lines: string): boolean {
    writeFileSync(this.at('.cairnignore'), lines);
    return true;
  }

  /** Sets the permissions of a file or folder. */
  permit(path: string, mode: number): boolean {
    const { ledger, folder, isServed } = this.#options;
    const isReadable = (lstatSync(this.at(path)).mode & 0o400) !== 0;
    if ((mode & 0o400) === 0) ledger.hidden(folder, this.#seenAt(path), isServed());
    chmodSync(this.at(path), mode);
    if ((mode & 0o400) !== 0 && !isReadable) this.note(path, readFileSync(this.at(path)));
    return true;
  }

  /** Opens a file as a program does that writes to it later. */
  hold(path: string): boolean {
    if (this.#open.length > 0) return this.writeLate();
    const descriptor = openSync(this.at(path), 'a+');
    this.#open.push({ descriptor, path, inode: fstatSync(descriptor).ino });
    return true;
  }

  /** Writes to a file that was opened before, wherever it is by now. */
  writeLate(): boolean {
    const held = this.#open.pop();
    if (held === undefined) return false;
    try {
      const { descriptor, inode } = held;
      const path = this.#entries('isFile').find((one) => lstatSync(this.at(one)).ino === inode);
      if (path !== undefined) this.leave(path);
      // Removed for good: what is written to it now is nobody's.
      if (fstatSync(descriptor).nlink === 0) return false;
      writeSync(descriptor, `written late ${this.bytes().subarray(0, 100).toString('hex')}\n`);
      // Read in full from its beginning.
      const bytes = readFileSync(`/proc/self/fd/${descriptor}`);
      const { ledger, folder } = this.#options;
      if (path !== undefined) this.note(path, bytes);
      else ledger.late(folder, held.path, bytes);
      return true;
    } finally {
      closeSync(held.descriptor);
    }
  }
}
