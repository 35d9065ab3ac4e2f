/** Collects the members of an archive from its parts into files, and verifies them against the manifest. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../client-error.ts';
import { shownLine } from '../shown.ts';
import { backupExit } from './exit-codes.ts';
import type { Manifest } from './manifest.ts';
import type { TarEntry } from './tar/tar-read.ts';
import { writeFully } from './tar/unpack-tree.ts';

export interface MemberFile {
  readonly name: string;
  readonly file: string;
}

interface Growing {
  readonly file: string;
  readonly hash: Hash;
  size: number;
  /** Number of the last piece; 0: the whole member was one entry. */
  piece: number;
}

export class MemberFiles {
  readonly #folder: string;
  readonly #members = new Map<string, Growing>();
  #sizes = new Map<string, number>();
  #parts = 0;

  /** `folder`: empty. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Parts begun so far. */
  get parts(): number {
    return this.#parts;
  }

  beginPart(manifest: Manifest): void {
    this.#parts += 1;
    this.#sizes = new Map(manifest.members.map(({ name, size }) => [name, size]));
  }

  /** Appends an entry to its member. Throws ClientError when it is not the next piece of one in the manifest. */
  async take({ path, type, size, body }: TarEntry): Promise<void> {
    const [, name = path, number] = /^(.+)\.part-(\d{4,6})$/.exec(path) ?? [];
    const most = this.#sizes.get(name);
    const known = this.#members.get(name);
    const piece = number === undefined ? 0 : Number(number);
    const isNext = known === undefined ? piece <= 1 : known.piece > 0 && piece === known.piece + 1;
    if (type !== '0' || most === undefined || !isNext || (known?.size ?? 0) + size > most) {
      throw damaged(`has an unexpected entry ${shownLine(path)}`);
    }
    // Names come from another machine, so they do not name the file.
    const growing = known ?? {
      file: join(this.#folder, String(this.#members.size)),
      hash: createHash('sha256'),
      size: 0,
      piece,
    };
    this.#members.set(name, growing);
    growing.piece = piece;
    growing.size += size;
    const descriptor = openSync(growing.file, 'a', 0o600);
    try {
      for await (const part of body()) {
        growing.hash.update(part);
        writeFully(descriptor, part);
      }
    } finally {
      closeSync(descriptor);
    }
  }

  /** The complete members. Throws ClientError unless all of the manifest are there, with their size and hash. */
  verified({ members }: Manifest): readonly MemberFile[] {
    return members.map(({ name, size, sha256 }) => {
      const found = this.#members.get(name);
      if (found?.size !== size || found.hash.digest('hex') !== sha256) throw damaged(`has no complete ${name}`);
      return { name, file: found.file };
    });
  }
}

function damaged(why: string): ClientError {
  return new ClientError(`the archive ${why}. Nothing was restored.`, backupExit.damaged);
}
