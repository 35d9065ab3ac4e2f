/** Writes an archive into a new folder. The manifest is last: a folder without one is not an archive. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { syncPath } from '../store/data-file/sync-path.ts';
import { writeWhole } from '../store/data-file/write-whole.ts';
import {
  ARCHIVE_MANIFEST_FILE,
  type ArchiveManifest,
  type ArchiveSection,
  BLOB_FOLDER,
  fileOf,
  newManifest,
  type SectionSummary,
} from './format.ts';

/** Number of bytes of lines buffered before they are written to the file. */
const GATHERED_BYTES = 256 * 1024;

interface ArchiveRecord {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The members that lines of these types have. */
type MembersOf<Line, T> = Line extends { readonly type: infer L }
  ? Extract<T, L> extends never
    ? never
    : keyof Line
  : never;

/**
 * Where an export writes the records of a section. `Line`: the lines that the schema of the section accepts. A record
 * with a member that no line of its type has does not compile: an import would refuse it.
 */
export interface SectionWriter<Line extends { readonly type: string } = ArchiveRecord> {
  /**
   * Writes a record as a line. A damaged record, which does not have the form of its kind, is left out and noted; then
   * returns false.
   */
  readonly write: <R extends Line>(
    record: R & { readonly [K in Exclude<keyof R, MembersOf<Line, R['type']>>]: never },
  ) => boolean;
  /** Records damaged data that is left out of the archive. */
  readonly noteMissing: (what: string) => void;
}

export class ArchiveWriter {
  readonly #folder: string;
  readonly #onBytes: (bytes: number) => void;
  readonly #files = new Map<ArchiveSection, SectionSummary>();
  #blobs = 0;
  #blobBytes = 0;
  #bytes = 0;
  readonly #missing: string[] = [];

  /** `onBytes` receives the number of bytes written so far. Throws the error of the system, also when `folder` exists. */
  constructor(folder: string, onBytes: (bytes: number) => void) {
    this.#folder = folder;
    this.#onBytes = onBytes;
    mkdirSync(folder, { mode: 0o700 });
    mkdirSync(join(folder, BLOB_FOLDER), { mode: 0o700 });
  }

  /** Writes the records of one section, each of which fits the schema. */
  section<Line>(
    section: ArchiveSection,
    schema: z.ZodType<Line>,
    write: (output: SectionWriter<Line extends { readonly type: string } ? Line : ArchiveRecord>) => void,
  ): void {
    const file = new LineFile(join(this.#folder, fileOf(section)), (bytes) => this.#grow(bytes));
    try {
      write({
        write: (record) => {
          const fits = schema.safeParse(record).success;
          if (fits) file.write(record);
          else this.noteMissing(`${section}: ${nameOf(record)}: the record is damaged`);
          return fits;
        },
        noteMissing: (what) => this.noteMissing(what),
      });
      this.#files.set(section, file.finish());
    } finally {
      file.close();
    }
  }

  noteMissing(what: string): void {
    this.#missing.push(what);
  }

  /** Damaged data left out of the archive so far. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  /**
   * Writes a content, unless it is already in the archive. Returns false and writes nothing when the bytes do not match
   * the hash.
   */
  blob(sha256: string, parts: Iterable<Uint8Array>): boolean {
    const path = join(this.#folder, BLOB_FOLDER, sha256);
    if (existsSync(path)) return true;
    const hash = createHash('sha256');
    const descriptor = openSync(path, 'wx', 0o600);
    let bytes = 0;
    try {
      for (const part of parts) {
        hash.update(part);
        writeWhole(descriptor, part);
        bytes += part.length;
        this.#grow(part.length);
      }
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    if (hash.digest('hex') !== sha256) {
      rmSync(path);
      return false;
    }
    this.#blobs += 1;
    this.#blobBytes += bytes;
    return true;
  }

  /** Writes the manifest. All of the archive is then on the disk. */
  finish(about: Pick<ArchiveManifest, 'cairn_version' | 'made_at' | 'account'>): ArchiveManifest {
    const files = Object.fromEntries(this.#files) as ArchiveManifest['files'];
    const blobs = { count: this.#blobs, bytes: this.#blobBytes };
    const missing = this.#missing.length === 0 ? {} : { missing: this.#missing };
    const manifest = newManifest({ ...about, files, blobs, ...missing });
    const path = join(this.#folder, ARCHIVE_MANIFEST_FILE);
    writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 });
    for (const changed of [path, join(this.#folder, BLOB_FOLDER), this.#folder]) syncPath(changed);
    return manifest;
  }

  /** Removes everything written of an unfinished archive. */
  abandon(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    this.#onBytes(this.#bytes);
  }
}

/** The kind of a record, and its number if it has one. */
function nameOf({ type, ...record }: { readonly type: string }): string {
  const members = new Map<string, unknown>(Object.entries(record));
  const found = ['id', 'seq', 'version', 'conflict_id', 'commit_sha'].find((name) => members.get(name) !== undefined);
  return found === undefined ? type : `${type} ${String(members.get(found))}`;
}

/** A file of JSON lines, hashed as it is written. */
class LineFile {
  readonly #descriptor: number;
  readonly #hash: Hash = createHash('sha256');
  readonly #onBytes: (bytes: number) => void;
  #gathered: string[] = [];
  #gatheredChars = 0;
  #records = 0;
  #bytes = 0;

  constructor(path: string, onBytes: (bytes: number) => void) {
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#onBytes = onBytes;
  }

  write(record: object): void {
    const line = `${JSON.stringify(record)}\n`;
    this.#gathered.push(line);
    this.#gatheredChars += line.length;
    this.#records += 1;
    if (this.#gatheredChars >= GATHERED_BYTES) this.#flush();
  }

  finish(): SectionSummary {
    this.#flush();
    fsyncSync(this.#descriptor);
    return { records: this.#records, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#gathered.join(''));
    this.#gathered = [];
    this.#gatheredChars = 0;
    this.#hash.update(bytes);
    writeWhole(this.#descriptor, bytes);
    this.#bytes += bytes.length;
    this.#onBytes(bytes.length);
  }
}
