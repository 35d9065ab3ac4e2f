/**
 * Stores copies of files saved during a slow or waiting sync, until the hub has them. Without the copies, an
 * intermediate save would be lost when the file is saved again.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { limits } from '../../../limits/service.ts';
import { lookAt, type ReadContent, readPlain } from './file.ts';
import { makeFolderAt } from './make-folder.ts';
import { checkFolderPath, type FolderPath, isBad, OWN_FOLDER } from './path.ts';
import { type HeldSave, madeRoomFor } from './saves-room.ts';

/** Folder inside `.cairn`. */
const FOLDER = 'saves';
/** Ends of names beside a copy: where it comes from; its bytes while they are written. */
const NOTE = '.json';
const UNFINISHED = '.part';

const noteSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  base: z.string(),
  executable: z.boolean().optional(),
  modifiedMs: z.number(),
});

export interface Save {
  readonly path: FolderPath;
  readonly sha256: string;
  /** Hash of the version it was based on; empty for none. */
  readonly base: string;
  /** Path of the copy, relative to the synced folder. */
  readonly place: string;
  /** Reads the copy; undefined when it is damaged. */
  readonly read: () => ReadContent | undefined;
  /** Deletes the copy, once the hub has it. */
  readonly drop: () => void;
}

interface Held extends HeldSave {
  readonly sha256: string;
}

export class Saves {
  readonly #folder: string;
  /** The copies known to this process, by name: reading all notes for each save would be quadratic. */
  #held: Map<string, Held> | undefined;
  #count = 0;

  /** `own`: path of the `.cairn` folder. */
  constructor(own: string) {
    this.#folder = join(own, FOLDER);
  }

  /**
   * Stores a copy. Where all copies together would exceed their size limit, gives up some between the first and the last one of a
   * file. Returns the paths of which a save is not kept.
   */
  keep(path: FolderPath, content: Omit<ReadContent, 'size'>, base: string): ReadonlySet<string> {
    const { bytes, sha256, executable, modifiedMs } = content;
    if (this.#holds(path, sha256)) return new Set();
    const given = this.#madeRoomFor({ path, bytes: bytes.length });
    if (given === undefined) return new Set([path]);
    makeFolderAt(this.#folder, 0o700);
    // Names sort in the order of creation; setting the clock back affects only that order.
    this.#count += 1;
    const order = `${Date.now()}-${String(this.#count).padStart(6, '0')}`;
    const name = `${order}-${randomUUID()}`;
    const at = join(this.#folder, name);
    // Another process may list the copies at any time, so the bytes get their name last and in one step. The folder
    // protects them; a copy that is put into the synced folder has the permissions of a new file there.
    writeFileSync(`${at}${UNFINISHED}`, bytes, { mode: executable ? 0o777 : 0o666 });
    writeFileSync(`${at}${NOTE}`, JSON.stringify({ path, base, sha256, executable, modifiedMs }), { mode: 0o600 });
    renameSync(`${at}${UNFINISHED}`, at);
    this.#held?.set(name, { path, sha256, bytes: bytes.length });
    // Only now: on a full disk, what is there stays.
    return new Set(given.map((one) => this.#drop(one)).filter((one) => one !== undefined));
  }

  /** The stored copies, oldest first. */
  list(): Save[] {
    return this.#names().flatMap((name): Save[] => {
      const at = join(this.#folder, name);
      const note = this.#noteOf(name);
      const path = note === undefined ? { bad: '' } : checkFolderPath(note.path);
      const drop = () => void this.#drop(name);
      if (note === undefined || isBad(path)) {
        // The note was lost in a power failure; the file itself still exists.
        drop();
        return [];
      }
      const { sha256, base, executable, modifiedMs } = note;
      const read = () => {
        const content = readPlain(at);
        return content?.sha256 === sha256 ? { ...content, executable, modifiedMs } : undefined;
      };
      return [{ path, sha256, base, place: `${OWN_FOLDER}/${FOLDER}/${name}`, read, drop }];
    });
  }

  #holds(path: FolderPath, sha256: string): boolean {
    this.#held ??= this.#read();
    for (const [name, held] of this.#held) {
      if (held.path !== path || held.sha256 !== sha256) continue;
      // Another process may have sent and deleted it.
      if (lookAt(join(this.#folder, name)) !== undefined) return true;
      this.#held.delete(name);
    }
    return false;
  }

  /** Deletes a copy. Returns the path whose save it was, where that is known. */
  #drop(name: string): string | undefined {
    const at = join(this.#folder, name);
    rmSync(at, { force: true });
    rmSync(`${at}${NOTE}`, { force: true });
    const path = this.#held?.get(name)?.path;
    this.#held?.delete(name);
    return path;
  }

  /** Names of the copies that another one takes the place of; undefined: it has no room. */
  #madeRoomFor(next: HeldSave): readonly string[] | undefined {
    const room = {
      all: limits.clientSavesBytesMax,
      large: limits.clientSavesLargeBytesMax,
      small: limits.clientSavesSmallBytes,
    };
    this.#held ??= this.#read();
    const given = madeRoomFor(next, this.#held, room);
    if (given?.length === 0) return given;
    // Another process may have sent some.
    this.#held = this.#read();
    return madeRoomFor(next, this.#held, room);
  }

  #read(): Map<string, Held> {
    return new Map(
      this.list().map(({ path, sha256, place }) => {
        const name = basename(place);
        return [name, { path, sha256, bytes: lookAt(join(this.#folder, name))?.size ?? 0 }];
      }),
    );
  }

  #names(): string[] {
    try {
      const names = readdirSync(this.#folder).sort();
      return names.filter((name) => !name.endsWith(NOTE) && !name.endsWith(UNFINISHED));
    } catch {
      // No copy was ever stored.
      return [];
    }
  }

  #noteOf(name: string): z.infer<typeof noteSchema> | undefined {
    try {
      return noteSchema.parse(JSON.parse(readFileSync(join(this.#folder, `${name}${NOTE}`), 'utf8')));
    } catch {
      // A damaged note counts as missing.
      return undefined;
    }
  }
}
