/**
 * Makes and reads incremental backups: the blocks of the data file that differ from an earlier backup, by number. LMDB
 * does not move pages, so blocks not written since are identical. A chain begins with a full backup.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { DATA_FILE } from '../data-file/names.ts';
import { type CopyManifest, readCopyManifest } from './manifest.ts';

/** Number (4 bytes, little endian) and bytes of each changed block, one after another. */
export const CHANGES_FILE = 'changes.bin';
const BLOCK_BYTES = 16 * 1024;
const ENTRY_BYTES = 4 + BLOCK_BYTES;

interface Link {
  readonly folder: string;
  readonly manifest: CopyManifest;
}

/** The chain of a backup, from the full backup to itself. Throws StartError when a link is missing or was replaced. */
function chainOf(folder: string): Link[] {
  const links: Link[] = [];
  let at = resolve(folder);
  for (let manifest = readCopyManifest(at); ; ) {
    links.unshift({ folder: at, manifest });
    const { since } = manifest;
    if (since === undefined) return links;
    const before = join(dirname(at), since.folder);
    const found = readSince(before, at);
    if (found.sha256 !== since.sha256 || links.length > 100_000) {
      throw new StartError(`${basename(at)} is based on another backup than the one in ${before}.`);
    }
    [at, manifest] = [before, found];
  }
}

function readSince(before: string, at: string): CopyManifest {
  try {
    return readCopyManifest(before);
  } catch {
    // Missing and unreadable have the same message.
    throw new StartError(
      `${basename(at)} is based on the backup ${before}, which is missing or damaged; put that backup into the same folder.`,
    );
  }
}

/** Finds the newest copy of each block in a chain. */
class Blocks {
  readonly #files: number[] = [];
  readonly #places = new Map<number, { readonly file: number; readonly at: number }>();

  constructor(links: readonly Link[]) {
    for (const { folder, manifest } of links) {
      const isWhole = manifest.since === undefined;
      const file = openSync(join(folder, isWhole ? DATA_FILE : CHANGES_FILE), 'r');
      this.#files.push(file);
      if (isWhole) continue;
      const number = Buffer.alloc(4);
      for (let at = 0; at + ENTRY_BYTES <= fstatSync(file).size; at += ENTRY_BYTES) {
        readSync(file, number, 0, 4, at);
        this.#places.set(number.readUInt32LE(0), { file, at: at + 4 });
      }
    }
  }

  /** Reads a block into a buffer; zeros after the end of the full backup. */
  read(block: number, into: Buffer): void {
    const place = this.#places.get(block) ?? { file: this.#files[0] ?? -1, at: block * BLOCK_BYTES };
    into.fill(0);
    readSync(place.file, into, 0, BLOCK_BYTES, place.at);
  }

  close(): void {
    for (const file of this.#files) closeSync(file);
  }
}

/** Reduces the full copy in a folder to its differences from the backup `since`, which must be in the same parent. */
export function keepChanges(folder: string, since: string): Pick<CopyManifest, 'since'> {
  const links = chainOf(since);
  const blocks = new Blocks(links);
  const whole = openSync(join(folder, DATA_FILE), 'r');
  const changes = openSync(join(folder, CHANGES_FILE), 'w', 0o600);
  try {
    const [before, entry] = [Buffer.alloc(BLOCK_BYTES), Buffer.alloc(ENTRY_BYTES)];
    const now = entry.subarray(4);
    for (let block = 0; block * BLOCK_BYTES < fstatSync(whole).size; block += 1) {
      now.fill(0);
      readSync(whole, now, 0, BLOCK_BYTES, block * BLOCK_BYTES);
      blocks.read(block, before);
      if (now.equals(before)) continue;
      entry.writeUInt32LE(block, 0);
      writeFileSync(changes, entry);
    }
  } finally {
    blocks.close();
    closeSync(whole);
    closeSync(changes);
  }
  rmSync(join(folder, DATA_FILE));
  return { since: { folder: basename(resolve(since)), sha256: links.at(-1)?.manifest.sha256 ?? '' } };
}

/** Reassembles the data file of a backup from its chain. Throws StartError when a link is missing. */
export function putTogether(from: string, path: string): void {
  const links = chainOf(from);
  const blocks = new Blocks(links);
  const target = openSync(path, 'w', 0o600);
  try {
    const bytes = Buffer.alloc(BLOCK_BYTES);
    const total = links.at(-1)?.manifest.bytes ?? 0;
    for (let block = 0; block * BLOCK_BYTES < total; block += 1) {
      blocks.read(block, bytes);
      writeFileSync(target, bytes);
    }
    ftruncateSync(target, total);
  } finally {
    blocks.close();
    closeSync(target);
  }
}

/** Name of the file with a backup's data. */
export const dataFileOf = ({ since }: Pick<CopyManifest, 'since'>): string =>
  since === undefined ? DATA_FILE : CHANGES_FILE;
