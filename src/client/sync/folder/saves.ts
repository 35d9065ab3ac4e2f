/**
 * Owns saves that stood still while a sync was under way or waited: copies of their bytes, kept until the hub has them. Without
 * them, a file that is saved again during a slow sync would lose the save between.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { limits } from '../../../limits/service.ts';
import { type Content, lookAt, readPlain } from './file.ts';
import { checkPath, type FolderPath, isBad, OWN_FOLDER } from './path.ts';

/** Inside Cairn's own folder. */
const FOLDER = 'saves';

const noteSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  base: z.string(),
  executable: z.boolean(),
  modifiedMs: z.number(),
});

/** A file as it was saved. */
export interface Save {
  readonly path: FolderPath;
  readonly sha256: string;
  /** The hash of the version that it builds on; empty: none. */
  readonly base: string;
  /** Where the copy is, relative to the synced folder. */
  readonly place: string;
  /** Undefined: the copy is damaged. */
  readonly read: () => Content | undefined;
  /** The hub has it. */
  readonly drop: () => void;
}

export class Saves {
  readonly #folder: string;
  #count = 0;

  /** `own`: Cairn's own folder. */
  constructor(own: string) {
    this.#folder = join(own, FOLDER);
  }

  /** Keeps a copy. What would take more room than copies may have is not kept. */
  keep(path: FolderPath, { bytes, ...content }: Content, base: string): void {
    const all = this.list();
    if (all.some((save) => save.path === path && save.sha256 === content.sha256)) return;
    if (this.#usedBytes() + bytes.length > limits.clientSavesBytesMax) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    // In the order in which they were made; a clock that is set back mixes up no more than that.
    this.#count += 1;
    const order = `${Date.now()}-${String(this.#count).padStart(6, '0')}`;
    const at = join(this.#folder, `${order}-${randomUUID()}`);
    writeFileSync(at, bytes, { mode: 0o600 });
    writeFileSync(`${at}.json`, JSON.stringify({ path, base, ...content }), { mode: 0o600 });
  }

  /** What is kept, the oldest first. */
  list(): Save[] {
    return this.#names().flatMap((name): Save[] => {
      const at = join(this.#folder, name);
      const note = this.#noteOf(name);
      const path = note === undefined ? { bad: '' } : checkPath(note.path);
      const drop = () => {
        rmSync(at, { force: true });
        rmSync(`${at}.json`, { force: true });
      };
      if (note === undefined || isBad(path)) {
        // This process, or one before it, ended while it wrote the copy: the file itself is still there.
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

  #usedBytes(): number {
    return this.#names().reduce((sum, name) => sum + (lookAt(join(this.#folder, name))?.size ?? 0), 0);
  }

  #names(): string[] {
    try {
      const names = readdirSync(this.#folder).sort();
      return names.filter((name) => !name.endsWith('.json'));
    } catch {
      // Nothing was ever kept.
      return [];
    }
  }

  #noteOf(name: string): z.infer<typeof noteSchema> | undefined {
    try {
      return noteSchema.parse(JSON.parse(readFileSync(join(this.#folder, `${name}.json`), 'utf8')));
    } catch {
      // Damaged: told by the answer.
      return undefined;
    }
  }
}
