/** The mark of a restored hub with which its log is to go on: a file in the data folder, until the log has its first record. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StartError } from '../../common/start-error.ts';
import type { BeginMark } from '../../replication/members/begin-again.ts';
import { syncPath } from '../../store/data-file/sync-path.ts';
import { writeFlushed } from '../../store/data-file/write-whole.ts';

const FILE = 'into-log.json';
const beginMark = z.strictObject({ from: z.string(), begins: z.string() });

/** `from`: the incarnation of the log now. */
export function writeBeginMark(folder: string, from: string): void {
  const mark: BeginMark = { from, begins: randomBytes(12).toString('hex') };
  writeFlushed(join(folder, FILE), Buffer.from(`${JSON.stringify(mark)}\n`), 'w');
  syncPath(folder);
}

/** Undefined: the folder has no mark. Throws StartError when it cannot be read. */
export function readBeginMark(folder: string): BeginMark | undefined {
  try {
    return beginMark.parse(JSON.parse(readFileSync(join(folder, FILE), 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartError(`${join(folder, FILE)} cannot be read. Restore the hub again, into an empty CAIRN_DATA.`, {
      cause: error,
    });
  }
}

/** Returns whether there was one. */
export function removeBeginMark(folder: string): boolean {
  if (!existsSync(join(folder, FILE))) return false;
  rmSync(join(folder, FILE));
  syncPath(folder);
  return true;
}
