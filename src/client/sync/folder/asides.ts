/**
 * Stores files moved aside before they were replaced or removed. They are kept for a while: a program that still had
 * one open may have written to it afterwards, and a process may have died in between.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { limits } from '../../../limits/service.ts';
import { codeOf, isLarge, lookAt, type ReadContent, readPlain } from './file.ts';
import { isSameBytes, type LargeFiles } from './large-files.ts';
import { makeFolderAt, makeParents } from './make-folder.ts';
import { checkFolderPath, type FolderPath, isBad, OWN_FOLDER } from './path.ts';

const noteSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  isUnsent: z.boolean().optional(),
  /** Of a large file, which is not hashed again: what tells whether it was written since. */
  large: z.object({ size: z.number(), mtimeMs: z.number(), ino: z.number() }).optional(),
});

type Note = z.infer<typeof noteSchema>;

/** A file with bytes that may exist nowhere else. */
export interface Stray {
  /** Original path. */
  readonly path: FolderPath;
  /** Current path, relative to the synced folder. */
  readonly place: string;
  /** Undefined for a large file. */
  readonly sha256: string | undefined;
  /** Deletes it, once its bytes are safe. */
  readonly drop: () => void;
}

/** Folder inside `.cairn`. */
const FOLDER = 'aside';

export class Asides {
  readonly #root: string;
  readonly #folder: string;
  readonly #large: LargeFiles;
  /** Hashes of bytes not yet on the hub. */
  readonly #unsent = new Set<string>();
  /** Where this process moved a content, by hash. */
  readonly #taken = new Map<string, string>();
  /** Names of the files that this process moved. */
  readonly #own = new Set<string>();
  /** Change time of each file by the disk, and when a sweep first saw it (monotonic, milliseconds). */
  readonly #seen = new Map<string, { readonly changedMs: number; readonly sinceMs: number }>();

  /** `own`: path of the `.cairn` folder. */
  constructor(own: string, large: LargeFiles) {
    this.#large = large;
    this.#root = dirname(own);
    this.#folder = join(own, FOLDER);
  }

  /** True when no file is aside. */
  get isEmpty(): boolean {
    return this.#names().length === 0;
  }

  /** Moves a plain file aside. False when it does not exist, or has another hash and was put back. */
  take(path: FolderPath, target: string, expected: string): boolean {
    makeFolderAt(this.#folder, 0o700);
    const aside = join(this.#folder, randomUUID());
    const before = lookAt(target);
    const large = before !== undefined && isLarge(before) ? before : undefined;
    // A large file was hashed before; whether it is still that one, its metadata tells.
    if (large !== undefined && this.#large.sha256Of(target, large) !== expected) return false;
    try {
      this.#note(aside, { path, sha256: expected, isUnsent: this.#unsent.has(expected), ...(large && sameOf(large)) });
      renameSync(target, aside);
    } catch (error) {
      rmSync(`${aside}.json`, { force: true });
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
    let isExpected = false;
    try {
      isExpected = large === undefined ? readPlain(aside)?.sha256 === expected : isSame(large, aside);
    } finally {
      if (!isExpected) this.#putBack(aside, path, target);
    }
    if (isExpected) {
      this.#taken.set(expected, aside);
      this.#own.add(basename(aside));
      this.#large.moved(target, aside, large);
    }
    return isExpected;
  }

  /** A content moved aside by this process, in its current state; undefined when it is large, or no longer stored. */
  find(sha256: string): ReadContent | undefined {
    const aside = this.#taken.get(sha256);
    const stats = aside === undefined ? undefined : lookAt(aside);
    if (stats !== undefined && isLarge(stats)) return undefined;
    const content = aside === undefined ? undefined : readAside(aside);
    if (content === 'unreadable') return undefined;
    if (content === undefined) this.#taken.delete(sha256);
    return content;
  }

  /**
   * Marks bytes as not yet on the hub, before their file is moved aside, in case this process dies before sending them.
   * Call the returned function once the hub has them.
   */
  keepUnsent(sha256: string): () => void {
    this.#unsent.add(sha256);
    return () => {
      this.#unsent.delete(sha256);
      for (const name of this.#names()) {
        const note = this.#noteOf(name);
        if (note?.sha256 === sha256) this.#note(join(this.#folder, name), { ...note, isUnsent: false });
      }
    };
  }

  /** Deletes unchanged files after a while. Returns the changed or unsent ones. */
  sweep(): Stray[] {
    const strays: Stray[] = [];
    for (const name of this.#names()) {
      const at = join(this.#folder, name);
      const drop = () => {
        rmSync(at, { force: true });
        rmSync(`${at}.json`, { force: true });
        this.#own.delete(name);
        this.#seen.delete(name);
      };
      const stats = lookAt(at);
      if (stats !== undefined && !this.#isOld(name, stats.ctimeMs)) continue;
      const note = this.#noteOf(name);
      // The note was lost in a power failure: the file stays for the user to find.
      if (note === undefined) continue;
      this.#taken.delete(note.sha256);
      const path = checkFolderPath(note.path);
      if (stats !== undefined && (isLarge(stats) || note.large !== undefined)) {
        const isKnown = note.large !== undefined && isSameBytes(note.large, stats);
        if ((isKnown && note.isUnsent !== true) || isBad(path)) drop();
        else strays.push({ path, place: `${OWN_FOLDER}/${FOLDER}/${name}`, sha256: undefined, drop });
        continue;
      }
      const content = readAside(at);
      // The disk fails, or the file belongs to another user: it stays for the user to find.
      if (content === 'unreadable') continue;
      const isKnown = content?.sha256 === note.sha256 && note.isUnsent !== true;
      if (content === undefined || isKnown || isBad(path)) drop();
      else strays.push({ path, place: `${OWN_FOLDER}/${FOLDER}/${name}`, sha256: content.sha256, drop });
    }
    return strays;
  }

  /**
   * True when a file has been aside, unchanged, for the whole while. Times of the disk may come from another clock (a file
   * server), and clocks are set, so they count only for a file that an earlier process moved.
   */
  #isOld(name: string, changedMs: number): boolean {
    const nowMs = performance.now();
    const known = this.#seen.get(name);
    if (known?.changedMs === changedMs && nowMs - known.sinceMs >= limits.clientAsideMs) return true;
    if (known?.changedMs !== changedMs) this.#seen.set(name, { changedMs, sinceMs: nowMs });
    return !this.#own.has(name) && Date.now() - changedMs >= limits.clientAsideMs;
  }

  /** Puts a file back, unless a newer file has the name by now: then it stays aside for the sweep. */
  #putBack(aside: string, path: FolderPath, target: string): void {
    try {
      makeParents(this.#root, path);
      linkSync(aside, target);
      rmSync(aside, { force: true });
      rmSync(`${aside}.json`, { force: true });
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return;
      if (lookAt(target) === undefined) renameSync(aside, target);
    }
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => !name.endsWith('.json'));
    } catch {
      // No file was ever moved aside.
      return [];
    }
  }

  #note(aside: string, note: Note): void {
    writeFileSync(`${aside}.json`, JSON.stringify(note), { mode: 0o600 });
  }

  #noteOf(name: string): Note | undefined {
    try {
      return noteSchema.parse(JSON.parse(readFileSync(join(this.#folder, `${name}.json`), 'utf8')));
    } catch {
      // A damaged note counts as missing.
      return undefined;
    }
  }
}

function sameOf({ size, mtimeMs, ino }: Stats): Pick<Note, 'large'> {
  return { large: { size, mtimeMs, ino } };
}

/** True when a large file was not written while it was moved. */
function isSame(before: Stats, aside: string): boolean {
  const after = lookAt(aside);
  return after !== undefined && isSameBytes(before, after);
}

/** Reads a file that is aside. Its permissions may have changed since; here they only protect it from its user. */
function readAside(aside: string): ReadContent | undefined | 'unreadable' {
  try {
    return readPlain(aside);
  } catch {
    return readOpened(aside);
  }
}

function readOpened(aside: string): ReadContent | undefined | 'unreadable' {
  try {
    chmodSync(aside, (lookAt(aside)?.mode ?? 0) | 0o400);
    return readPlain(aside);
  } catch {
    return 'unreadable';
  }
}
