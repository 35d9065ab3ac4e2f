/** Checks a data file before LMDB opens it: damage is an error here, while LMDB would end the process by a signal. */
import { accessSync, closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { limits } from '../../limits/service.ts';
import { DamagedFile, readDataFileHead } from './head.ts';
import { nameWithFlippedBit } from './table-names.ts';
import { PageWalk, type WalkWatcher } from './walk.ts';

/** Reports a data file that is broken in its structure, so that LMDB could end the process on it. */
export class BrokenFile extends StartError {}

/** A writer may be in the middle of a meta page, so only a problem seen at every try is damage. */
const TRIES = 3;

/**
 * Checks the head of a data file and its lists of tables and free pages. Checks all pages when the file is shorter than
 * its head states. That alone is not damage: pages at the end that a transaction allocated and freed are never written
 * (see `mm_last_pg` in mdb.c).
 * @param known names of tables; when given, a table whose name has a flipped bit is damage
 * @throws BrokenFile when LMDB cannot open it safely, and StartError when the file or its size prevents it
 */
export function checkDataFile(path: string, mapBytes: number, known: readonly string[] = []): void {
  const problem = withFile(path, (descriptor) => {
    const { size } = fstatSync(descriptor);
    if (size === 0) return 'it is empty';
    if (size + limits.diskFreeBytesMin > mapBytes) throw mapTooSmall(size, mapBytes);
    const head = readDataFileHead(descriptor);
    const isShort = size < (head.pageLast + 1) * head.pageBytes;
    const names: string[] = [];
    const watcher: WalkWatcher = { after: -1, onPages: () => undefined, onTable: (name) => void names.push(name) };
    const [damage = misnamed(names, known)] = new PageWalk(descriptor, head, watcher).run(isShort);
    return damage === undefined ? undefined : `${isShort ? 'it was cut short' : 'it is damaged'} (${damage})`;
  });
  if (problem === undefined) return;
  throw new BrokenFile(
    `${basename(path)} cannot be opened: ${problem}; keep the file, and restore a backup into an empty folder (\`cairn restore\`), or save what can be read (\`cairn backup\`).`,
  );
}

/** Tells of a table that is missing while another has its name but for one bit: the table would be made again, and be empty. */
function misnamed(names: readonly string[], known: readonly string[]): string | undefined {
  const missing = known.filter((name) => !names.includes(name));
  for (const name of names.filter((each) => !known.includes(each))) {
    const meant = nameWithFlippedBit(name, missing);
    if (meant !== undefined) return `table ${meant} has another name`;
  }
  return undefined;
}

/**
 * Checks that this user can write a data file and the file of its locks, if they exist: LMDB ends the process by a signal
 * on a lock file that it cannot open, such as one that a command of root has made.
 * @throws StartError
 */
export function checkWritable(dataFile: string): void {
  for (const path of [dataFile, `${dataFile}-lock`].filter((each) => existsSync(each))) {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw new StartError(`${basename(path)} cannot be written to: ${systemReason(error)}`);
    }
  }
}

function mapTooSmall(size: number, mapBytes: number): StartError {
  return new StartError(
    `CAIRN_MAP_BYTES is ${mapBytes}, but the data file has ${size} bytes already; set it to more than the file is to grow to.`,
  );
}

/**
 * Checks all pages of a data file. Returns one sentence for each damaged page; LMDB must not read a file that has one.
 * With a running service, hold a read transaction during the check: it prevents reuse of the snapshot's pages.
 */
export function findDamagedPages(path: string): readonly string[] {
  const problems = withFile(path, (descriptor) => {
    const found = new PageWalk(descriptor, readDataFileHead(descriptor)).run(true);
    return found.length === 0 ? undefined : found;
  });
  return problems === undefined ? [] : [problems].flat();
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw new StartError(`${basename(path)} cannot be read: ${systemReason(error)}`);
  }
}

/** Calls `look` up to `TRIES` times. Returns undefined once it finds no problem, else the problem of the last try. */
function withFile<T>(path: string, look: (descriptor: number) => T | undefined): T | string | undefined {
  const descriptor = openFile(path);
  try {
    let found: T | string | undefined;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      try {
        found = look(descriptor);
      } catch (error) {
        if (!(error instanceof DamagedFile)) throw error;
        found = error.message;
      }
      if (found === undefined) return undefined;
    }
    return found;
  } finally {
    closeSync(descriptor);
  }
}
