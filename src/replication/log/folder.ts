/**
 * Objects as files of a folder, for tests and for a second process on the same machine. `link(2)` to a name that must not
 * exist creates each once, complete and synced.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Created } from './log.ts';
import type { ObjectStore } from './object-log.ts';

const DRAFTS = 'drafts';
/** Drafts older than this are of processes that ended. */
const DRAFT_AGE_MS = 3_600_000;
/** Buckets refuse requests that were signed longer ago; so does a folder. */
const SIGNED_AGE_MS_MAX = 15 * 60_000;

export class FolderStore implements ObjectStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes the folder. Throws system errors. */
  async open(): Promise<void> {
    await mkdir(join(this.#folder, DRAFTS), { recursive: true });
    for (const draft of await readdir(join(this.#folder, DRAFTS))) {
      const path = join(this.#folder, DRAFTS, draft);
      const age = await stat(path).then(({ mtimeMs }) => Date.now() - mtimeMs, absent);
      if (age !== undefined && age > DRAFT_AGE_MS) await rm(path, { force: true });
    }
  }

  async create(name: string, bytes: Uint8Array, signedAtMs?: number): Promise<Created> {
    const path = join(this.#folder, name);
    const draft = join(this.#folder, DRAFTS, randomBytes(16).toString('hex'));
    try {
      await writeSynced(draft, bytes);
      await this.#makeFolders(name);
      if (signedAtMs !== undefined && Date.now() - signedAtMs > SIGNED_AGE_MS_MAX) {
        throw new Error(`${name} was to be created more than 15 minutes ago`);
      }
      await link(draft, path);
      await syncFolder(dirname(path));
      return 'written';
    } catch (error) {
      if (!sameCode(error, 'EEXIST')) throw error;
      // Another one linked it, and may not have synced the folder yet.
      await syncFolder(dirname(path));
      return 'taken';
    } finally {
      await unlink(draft).catch(absent);
    }
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const bytes = await readFile(join(this.#folder, name)).catch(absent);
    if (bytes === undefined) await this.#checkThere();
    return bytes;
  }

  async list(prefix: string, after: string, limit: number): Promise<string[]> {
    const root = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    const entries = await readdir(join(this.#folder, root), { recursive: true, withFileTypes: true }).catch(absent);
    if (entries === undefined) await this.#checkThere();
    return (entries ?? [])
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.#folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .filter((name) => name.startsWith(prefix) && name > prefix + after && !name.startsWith(`${DRAFTS}/`))
      .sort()
      .slice(0, limit);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
  }

  async close(): Promise<void> {}

  /** A folder that went away, as one does whose disk is not mounted, is no empty log. */
  async #checkThere(): Promise<void> {
    const found = await stat(join(this.#folder, DRAFTS)).catch(absent);
    if (found === undefined)
      throw new Error(`the folder of the log, ${this.#folder}, is not there; is its disk mounted?`);
  }

  /** Makes the folders below the root that a name needs. Never the root itself: it may be away, with its log. */
  async #makeFolders(name: string): Promise<void> {
    let above = this.#folder;
    for (const part of dirname(name).split('/')) {
      const made = await mkdir(join(above, part)).then(
        () => true,
        (error: unknown) => {
          if (!sameCode(error, 'EEXIST')) throw error;
          return false;
        },
      );
      // The name of a new folder must survive a power failure as well.
      if (made) await syncFolder(above);
      above = join(above, part);
    }
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function absent(error: unknown): undefined {
  if (!sameCode(error, 'ENOENT')) throw error;
}

const sameCode = (error: unknown, code: string): boolean => (error as NodeJS.ErrnoException).code === code;
