/** Permissions and times of files, the clock of a disk, and whether it stores the executable bit (vfat, exFAT, NTFS do not). */
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, fchmodSync, fstatSync, lstatSync, openSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { lookAt } from './file.ts';

/** Attributes of a written file besides its bytes. Undefined: unchanged, or the default of a new file. */
export interface Look {
  readonly executable?: boolean | undefined;
  readonly modifiedMs?: number | undefined;
  /** The hash of the bytes, if the caller computed it. */
  readonly sha256?: string;
}

const OWNER_EXECUTES = 0o100;
/** Added to a time in seconds: a fraction such as 0.918 is stored as 0.917999 without it. */
const HALF_MICROSECOND = 0.000_000_5;

/**
 * True when the disk stores the executable bit. Tried with a new file in the `.cairn` folder; where none can be made
 * (read-only, full), the private state file tells: it is never executable on a disk that stores the bit.
 */
export function storesExecutable(ownFolder: string): boolean {
  if (process.platform === 'win32') return false;
  const stores = withNewFile(ownFolder, (descriptor) => {
    try {
      return [0o700, 0o600].every((mode) => {
        fchmodSync(descriptor, mode);
        return (fstatSync(descriptor).mode & OWNER_EXECUTES) === (mode & OWNER_EXECUTES);
      });
    } catch {
      // The disk refuses the change of the mode.
      return false;
    }
  });
  return stores ?? ((lookAt(join(ownFolder, 'state.json'))?.mode ?? 0) & OWNER_EXECUTES) === 0;
}

/** Time by which a disk stamps files (milliseconds since 1970); undefined when it takes no new file in the `.cairn` folder. */
export function timeOfDisk(ownFolder: string): number | undefined {
  return withNewFile(ownFolder, (descriptor) => fstatSync(descriptor).ctimeMs);
}

/** Tries something with a new file, which is removed afterwards. Undefined when none can be made. */
function withNewFile<T>(ownFolder: string, work: (descriptor: number) => T): T | undefined {
  const path = join(ownFolder, `try.${randomUUID()}`);
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch {
    return undefined;
  }
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
    rmSync(path, { force: true });
  }
}

/**
 * Sets the permissions of the replaced file, and the executable bit and time of the hub's side. `hasBit` false: the disk
 * does not store permissions.
 */
export function dress(absolute: string, modeBefore: number | undefined, look: Look, hasBit: boolean): void {
  const { executable, modifiedMs } = look;
  // A new file is never executable.
  if (hasBit && (modeBefore !== undefined || executable === true)) {
    const mode = (modeBefore ?? lstatSync(absolute).mode) & 0o777;
    // Everyone with read permission may execute it, as with `chmod +x` under a usual umask.
    const wanted = executable === undefined ? mode : executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
    if (modeBefore !== undefined || wanted !== mode) chmodSync(absolute, wanted);
  }
  if (modifiedMs === undefined) return;
  const seconds = modifiedMs / 1000 + HALF_MICROSECOND;
  utimesSync(absolute, seconds, seconds);
}
