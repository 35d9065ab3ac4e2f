/** Writes the entries of a plain archive (`git archive`) into a folder, with git's modes and times. */
import {
  closeSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ClientError } from '../../client-error.ts';
import { flushPath } from '../../private-file.ts';
import { besideItsPlace, flushTree, type Tell } from '../../staging.ts';
import type { OpenedArchive, RestoreBudget } from '../open-archive.ts';
import { TarCheck } from './tar-check.ts';
import type { TarEntry } from './tar-read.ts';

/**
 * Unpacks files, folders and links. Links are made last, so nothing is ever written through one. Modes are those of git,
 * 0755 or 0644, less the user's umask. Throws ClientError at an entry that must not be unpacked.
 */
export async function unpackTree({ entries }: OpenedArchive, folder: string, budget: RestoreBudget): Promise<void> {
  const check = new TarCheck();
  const links: { readonly path: string; readonly target: string }[] = [];
  for await (const entry of entries) {
    const { kind, path } = check.accept(entry);
    budget.takeFiles(1);
    const place = join(folder, path);
    if (kind === 'folder') mkdirSync(place, { recursive: true });
    else if (kind === 'file') await writeFile(place, entry);
    else links.push({ path: place, target: entry.target });
  }
  for (const { path, target } of links) {
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  }
}

async function writeFile(path: string, { body, isExecutable, modified }: TarEntry): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(path, 'wx', isExecutable ? 0o777 : 0o666);
  try {
    for await (const piece of body()) writeFully(descriptor, piece);
    if (!Number.isNaN(modified)) futimesSync(descriptor, modified, modified);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes all bytes: a single call may write fewer. */
export function writeFully(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

/** Throws ClientError unless the folder is missing or empty: a restore overwrites nothing. */
export function refuseFilled(folder: string): void {
  let entries: string[];
  try {
    entries = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new ClientError(`${folder} is not a folder that can be read; name another with --output.`);
  }
  if (entries.length > 0) throw new ClientError(`${folder} is not empty; name a new folder with --output.`);
}

/** How a new folder is made. */
export interface NewFolder {
  /** It stays: all of it is on the disk before it gets its name. */
  readonly isKept: boolean;
  readonly tell: Tell;
}

/**
 * Calls `fill` with a new folder beside `folder` and one for temporary files, then gives the first that name. When
 * `fill` throws or the process is interrupted, nothing is left.
 */
export async function intoNewFolder<T>(
  folder: string,
  { isKept, tell }: NewFolder,
  fill: (files: string, work: string) => Promise<T>,
): Promise<T> {
  refuseFilled(folder);
  const place = resolve(folder);
  mkdirSync(dirname(place), { recursive: true });
  return await besideItsPlace(place, tell, async (staging) => {
    const [files, work] = [join(staging, 'files'), join(staging, 'work')];
    mkdirSync(work, { recursive: true });
    mkdirSync(files);
    const result = await fill(files, work);
    if (isKept) await flushTree(files);
    refuseFilled(folder);
    rmSync(place, { recursive: true, force: true });
    renameSync(files, place);
    if (isKept) flushPath(dirname(place));
    return result;
  });
}
