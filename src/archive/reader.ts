/**
 * Reads an archive from an untrusted source. Follows no links, reads only regular files, keeps at most one line or one
 * piece of a content in memory, and rejects any hash or length that differs from the manifest.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../limits/service.ts';
import {
  ARCHIVE_MANIFEST_FILE,
  type ArchiveManifest,
  type ArchiveSection,
  BLOB_FOLDER,
  damaged,
  fileOf,
  parseManifest,
} from './format.ts';

const READ_BYTES = 256 * 1024;
const NEWLINE = 10;

export interface ArchiveLine {
  /** From 1. */
  readonly number: number;
  readonly bytes: number;
  readonly document: unknown;
}

export class ArchiveReader {
  readonly manifest: ArchiveManifest;
  readonly #folder: string;
  readonly #onBytes: (bytes: number) => void;
  readonly #signal: AbortSignal;
  #bytes = 0;

  private constructor(
    folder: string,
    manifest: ArchiveManifest,
    onBytes: (bytes: number) => void,
    signal: AbortSignal,
  ) {
    this.#folder = folder;
    this.manifest = manifest;
    this.#onBytes = onBytes;
    this.#signal = signal;
  }

  /**
   * Opens an archive and reads its manifest. `onBytes` receives the number of bytes read so far. Throws Refusal
   * `invalid_fields` when the folder is not an archive of Cairn.
   */
  static async open(folder: string, onBytes: (bytes: number) => void, signal: AbortSignal): Promise<ArchiveReader> {
    for (const path of [folder, join(folder, BLOB_FOLDER)]) {
      const found = await lstat(path).catch(() => undefined);
      if (found?.isDirectory() !== true) {
        throw damaged(`${path} is not a readable folder; under systemd the hub has a private /tmp and /home`);
      }
    }
    const file = await openPlain(join(folder, ARCHIVE_MANIFEST_FILE), ARCHIVE_MANIFEST_FILE);
    try {
      const { size } = await file.stat();
      if (size > limits.archiveManifestBytesMax) throw damaged(`${ARCHIVE_MANIFEST_FILE} is too long`);
      return new ArchiveReader(folder, parseManifest(await file.readFile('utf8')), onBytes, signal);
    } finally {
      await file.close();
    }
  }

  /** Total number of bytes listed in the manifest. */
  get bytesTotal(): number {
    const { files, blobs } = this.manifest;
    return Object.values(files).reduce((sum, section) => sum + (section?.bytes ?? 0), blobs.bytes);
  }

  /**
   * Yields the lines of a section. Throws Refusal `invalid_fields` on a line that is too long or not JSON, and at the
   * end on a wrong hash.
   */
  async *lines(section: ArchiveSection): AsyncGenerator<ArchiveLine> {
    const name = fileOf(section);
    const summary = this.manifest.files[section];
    if (summary === undefined) return;
    const { records, bytes: bytesTotal, sha256 } = summary;
    const hash = createHash('sha256');
    let number = 0;
    let held: Buffer[] = [];
    let heldBytes = 0;
    for await (const part of this.#parts(name, name, bytesTotal)) {
      hash.update(part);
      let start = 0;
      for (let end = part.indexOf(NEWLINE); end >= 0; end = part.indexOf(NEWLINE, start)) {
        number += 1;
        const line = Buffer.concat([...held, part.subarray(start, end)]);
        [held, heldBytes, start] = [[], 0, end + 1];
        yield { number, bytes: line.length, document: parseLine(line, `${name} line ${number}`) };
      }
      held.push(Buffer.from(part.subarray(start)));
      heldBytes += part.length - start;
      if (heldBytes > limits.archiveLineBytesMax) {
        throw damaged(`${name} line ${number + 1}: is longer than ${limits.archiveLineBytesMax} bytes`);
      }
    }
    if (heldBytes > 0) throw damaged(`${name} ends in the middle of a line`);
    if (hash.digest('hex') !== sha256) throw damaged(`${name} is not the file that ${ARCHIVE_MANIFEST_FILE} describes`);
    if (number !== records)
      throw damaged(`${name} has ${number} lines instead of the ${records} in ${ARCHIVE_MANIFEST_FILE}`);
  }

  /**
   * Yields a content in pieces of exactly `pieceBytes`, except the last one. Each piece is only valid until the next is
   * requested.
   */
  async *blob(sha256: string, sizeBytes: number, pieceBytes: number): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(sizeBytes, 1)));
    let filled = 0;
    for await (const part of this.#parts(join(BLOB_FOLDER, sha256), `${BLOB_FOLDER}/${sha256}`, sizeBytes)) {
      hash.update(part);
      for (let at = 0; at < part.length; ) {
        const taken = part.copy(piece, filled, at);
        at += taken;
        filled += taken;
        if (filled < piece.length) continue;
        yield piece;
        filled = 0;
      }
    }
    if (filled > 0) yield piece.subarray(0, filled);
    if (hash.digest('hex') !== sha256) throw damaged(`${BLOB_FOLDER}/${sha256} does not match its SHA-256`);
  }

  /** Yields the bytes of a file, which must have the expected length. Each part is only valid until the next. */
  async *#parts(path: string, name: string, bytesExpected: number): AsyncGenerator<Buffer> {
    const file = await openPlain(join(this.#folder, path), name);
    try {
      const { size } = await file.stat();
      if (size !== bytesExpected) throw damaged(`${name} has ${size} bytes instead of ${bytesExpected}`);
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, bytesExpected));
      for (let left = bytesExpected; left > 0; ) {
        if (this.#signal.aborted) throw damaged('the import was cancelled');
        const { bytesRead } = await file.read(buffer, 0, Math.min(left, READ_BYTES));
        if (bytesRead === 0) throw damaged(`${name} was shortened while it was read`);
        left -= bytesRead;
        this.#bytes += bytesRead;
        this.#onBytes(this.#bytes);
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }
}

/** Opens a regular file. Rejects a link, and a pipe, which would block until somebody writes. */
async function openPlain(path: string, name: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw damaged(`${name} cannot be read (${code === 'ELOOP' ? 'it is a link' : (code ?? 'unknown error')})`);
  }
  const found = await file.stat();
  if (found.isFile()) return file;
  await file.close();
  throw damaged(`${name} is not a plain file`);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseLine(line: Buffer, place: string): unknown {
  try {
    return JSON.parse(decoder.decode(line));
  } catch {
    // Neither the decoder nor the parser reports anything more specific.
    throw damaged(`${place}: is not JSON in UTF-8`);
  }
}
