/**
 * Stores copies of files saved during a slow or waiting sync, until the hub has them. Without the copies, an
 * intermediate save would be lost when the file is saved again.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../../limits/service.ts';
import { isAbsent, lookAt, lookIfReadable, type ReadContent, readPlain } from './file.ts';
import { makeFolderAt } from './make-folder.ts';
import { checkFolderPath, type FolderPath, isBad, OWN_FOLDER } from './path.ts';
import { type HeldSave, madeRoomFor } from './saves-room.ts';

/** Folder inside `.cairn`. */
const FOLDER = 'saves';
/** Ends of names beside a copy: where it comes from; its bytes while they are written. */
const NOTE = '.json';
const UNFINISHED = '.part';
/** Names the files of which not each save is kept. */
const LOST = 'lost.json';

/** A file that is there and cannot be read now: too many are open, or the disk fails. */
const UNREADABLE = Symbol('unreadable');

/** What is written beside a copy. */
interface SaveNote {
  readonly path: FolderPath;
  readonly sha256: string;
  /** Hash of the version it was based on; empty for none. Null: not known yet. */
  readonly base: string | null;
  readonly executable: boolean | undefined;
  readonly modifiedMs: number;
}

/** A save of which the note is lost. */
const NAMELESS: SaveNote = {
  path: 'save without a name' as FolderPath,
  sha256: '',
  base: '',
  executable: undefined,
  modifiedMs: 0,
};

export interface Save extends Pick<SaveNote, 'path' | 'sha256' | 'base'> {
  /** Path of the copy, relative to the synced folder. */
  readonly place: string;
  /** Reads the copy; undefined when it is gone or damaged. Throws Unreadable when it cannot be read now. */
  readonly read: () => ReadContent | undefined;
  /** Deletes the copy, once the hub has it. */
  readonly drop: () => void;
}

/** What became of a save. */
export interface KeptSave {
  /** The name of its copy; undefined: there was one, or it has no room. */
  readonly name?: string;
  /** The paths of which a save is not kept. */
  readonly lost: ReadonlySet<FolderPath>;
}

interface Held extends HeldSave, SaveNote {
  readonly path: FolderPath;
}

export class Saves {
  readonly #folder: string;
  /** The copies known to this process, by name, oldest first: each note is read once. */
  readonly #held = new Map<string, Held>();
  #count = 0;

  /** `own`: path of the `.cairn` folder. */
  constructor(own: string) {
    this.#folder = join(own, FOLDER);
  }

  /**
   * Stores a copy. Where all copies together would exceed their size limit, gives up some between the first and the last one of a
   * file.
   */
  keep(path: FolderPath, content: Omit<ReadContent, 'size'>, base: string | null): KeptSave {
    const { bytes, sha256, executable, modifiedMs } = content;
    if (this.#count === 0) this.#refresh();
    if (this.#holds(path, sha256)) return { lost: new Set() };
    const given = this.#madeRoomFor({ path, bytes: bytes.length });
    if (given === undefined) return { lost: this.#noteLost([path]) };
    makeFolderAt(this.#folder, 0o700);
    // Names sort in the order of creation; setting the clock back affects only that order.
    this.#count += 1;
    const order = `${Date.now()}-${String(this.#count).padStart(6, '0')}`;
    const name = `${order}-${randomUUID()}`;
    const at = join(this.#folder, name);
    const note = { path, base, sha256, executable, modifiedMs };
    // Another thread or process may list the copies at any time, so the bytes get their name last and in one step. The folder
    // protects them; a copy that is put into the synced folder has the permissions of a new file there.
    try {
      writeFileSync(`${at}${UNFINISHED}`, bytes, { mode: executable ? 0o777 : 0o666 });
      this.#writeNote(name, note);
      renameSync(`${at}${UNFINISHED}`, at);
    } catch (error) {
      // A full disk stays no fuller: it is tried again.
      for (const end of [UNFINISHED, `${NOTE}${UNFINISHED}`, NOTE]) rmSync(`${at}${end}`, { force: true });
      throw error;
    }
    this.#held.set(name, { ...note, bytes: bytes.length });
    // Only now: on a full disk, what is there stays.
    const lost = given.map((one) => this.#drop(one)).filter((one) => one !== undefined);
    return { name, lost: this.#noteLost(lost) };
  }

  /** The stored copies, oldest first. */
  list(): Save[] {
    this.#refresh();
    return [...this.#held].map(([name, { path, sha256, base, executable, modifiedMs }]): Save => {
      const read = () => {
        const content = readPlain(join(this.#folder, name));
        return content?.sha256 === sha256 ? { ...content, executable, modifiedMs } : undefined;
      };
      const drop = () => void this.#drop(name);
      return { path, sha256, base, place: `${OWN_FOLDER}/${FOLDER}/${name}`, read, drop };
    });
  }

  /**
   * Notes on which version a copy is based, where that was not known; deletes it where `baseOf` gives none: the hub has it. Where the disk
   * refuses, the copy stays as it is: a sync that sends it decides then.
   */
  settle(name: string, baseOf: (save: Pick<Save, 'path' | 'sha256'>) => string | undefined): void {
    this.#refresh();
    const held = this.#held.get(name);
    if (held === undefined || held.base !== null) return;
    const base = baseOf(held);
    try {
      if (base === undefined) {
        this.#drop(name);
        return;
      }
      const { bytes, ...note } = { ...held, base };
      this.#writeNote(name, note);
      this.#held.set(name, { ...note, bytes });
    } catch {
      // No sync is under way that could tell it, and the copy is as safe as before.
    }
  }

  /** The files of which not each save was kept, until `forgetLost`. */
  lost(): FolderPath[] {
    const text = textOf(join(this.#folder, LOST));
    const paths = text === UNREADABLE ? undefined : parsed(text);
    if (!Array.isArray(paths)) return [];
    return paths.map((path) => checkFolderPath(String(path))).filter((path): path is FolderPath => !isBad(path));
  }

  /** To be called once all copies were sent. */
  forgetLost(): void {
    rmSync(join(this.#folder, LOST), { force: true });
  }

  #noteLost(paths: readonly FolderPath[]): ReadonlySet<FolderPath> {
    const lost = new Set(paths);
    const before = lost.size === 0 ? [] : this.lost();
    const all = new Set([...before, ...lost]);
    if (all.size === before.length) return lost;
    try {
      makeFolderAt(this.#folder, 0o700);
      writeFileSync(join(this.#folder, LOST), JSON.stringify([...all]), { mode: 0o600 });
    } catch {
      // On a full disk the watch alone tells.
    }
    return lost;
  }

  #holds(path: FolderPath, sha256: string): boolean {
    for (const [name, held] of this.#held) {
      if (held.path !== path || held.sha256 !== sha256) continue;
      // Another thread or process may have sent and deleted it.
      if (lookAt(join(this.#folder, name)) !== undefined) return true;
      this.#held.delete(name);
    }
    return false;
  }

  /** Deletes a copy. Returns the path whose save it was, where that is known. */
  #drop(name: string): FolderPath | undefined {
    const at = join(this.#folder, name);
    for (const end of ['', NOTE, `${NOTE}${UNFINISHED}`]) rmSync(`${at}${end}`, { force: true });
    const path = this.#held.get(name)?.path;
    this.#held.delete(name);
    return path;
  }

  /** Names of the copies that another one takes the place of; undefined: it has no room. */
  #madeRoomFor(next: HeldSave): readonly string[] | undefined {
    const room = {
      all: limits.clientSavesBytesMax,
      large: limits.clientSavesLargeBytesMax,
      small: limits.clientSavesSmallBytes,
    };
    const given = madeRoomFor(next, this.#held, room);
    if (given?.length === 0) return given;
    // Another thread or process may have sent some.
    this.#refresh();
    return madeRoomFor(next, this.#held, room);
  }

  /** Forgets the copies that are gone, and reads the notes of those that came. */
  #refresh(): void {
    const names = this.#names();
    if (names === undefined) return;
    const there = new Set(names);
    for (const name of this.#held.keys()) if (!there.has(name)) this.#held.delete(name);
    const added = names.filter((name) => !this.#held.has(name));
    for (const name of added) {
      const at = join(this.#folder, name);
      const text = textOf(`${at}${NOTE}`);
      // It is there and cannot be read now: a later look reads it.
      if (text === UNREADABLE) continue;
      const bytes = lookIfReadable(at)?.size ?? 0;
      // A power failure can lose the note. Bytes without one count as a damaged save.
      const note = noteOf(parsed(text)) ?? (bytes > 0 ? NAMELESS : undefined);
      if (note === undefined) this.#drop(name);
      else this.#held.set(name, { ...note, bytes });
    }
    if (added.length === 0) return;
    const sorted = [...this.#held].sort(([one], [other]) => (one < other ? -1 : 1));
    this.#held.clear();
    for (const [name, held] of sorted) this.#held.set(name, held);
  }

  /** Undefined when the folder cannot be read now. */
  #names(): string[] | undefined {
    try {
      const names = readdirSync(this.#folder);
      return names.filter((name) => !name.endsWith(NOTE) && !name.endsWith(UNFINISHED));
    } catch (error) {
      // No copy was ever stored.
      return isAbsent(error) ? [] : undefined;
    }
  }

  #writeNote(name: string, note: SaveNote): void {
    const at = join(this.#folder, `${name}${NOTE}`);
    // In one step: a note that is half written counts as lost.
    writeFileSync(`${at}${UNFINISHED}`, JSON.stringify(note), { mode: 0o600 });
    renameSync(`${at}${UNFINISHED}`, at);
  }
}

/** The text of a file; undefined when there is none. */
function textOf(absolute: string): string | typeof UNREADABLE | undefined {
  try {
    return readFileSync(absolute, 'utf8');
  } catch (error) {
    return isAbsent(error) ? undefined : UNREADABLE;
  }
}

/** JSON; undefined when there is none or it is damaged. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks a note by hand: a library for it takes more memory than the thread that keeps saves. */
function noteOf(value: unknown): SaveNote | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { path: given, sha256, base, executable, modifiedMs } = value as Record<string, unknown>;
  const path = typeof given === 'string' ? checkFolderPath(given) : { bad: '' };
  const isText = typeof sha256 === 'string' && (typeof base === 'string' || base === null);
  if (isBad(path) || !isText || typeof modifiedMs !== 'number') return undefined;
  return { path, sha256, base, executable: typeof executable === 'boolean' ? executable : undefined, modifiedMs };
}
