/** Checks what the machine provides: Node.js, limits of the process, disk, clock. */
import { existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../limits/service.ts';
import { checkAddressSpace } from '../../store/data-file/address-space.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { isFromTheFuture } from '../../time/truth.ts';
import { openFilesMax } from '../open-files.ts';
import { checkAttempt, type Finding, note, ok, size, wrong } from './finding.ts';

/** Any earlier time is a wrong clock: this code did not exist then. */
const BUILT_MS = Date.UTC(2026, 0, 1);
/** File systems that do not guarantee fdatasync, by their magic number from statfs(2). */
const NETWORK_DISKS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
]);
const TMPFS = 0x01021994;

export async function checkNode(): Promise<Finding> {
  try {
    await import('../../http/library/uws.ts');
    return ok('node', `Node.js ${process.version} can run the service`);
  } catch (error) {
    return wrong('node', (error as Error).message);
  }
}

/** `pid`: the process that runs the hub; undefined: this one. */
export function checkOpenFiles(connectionsMax: number, pid?: number): Finding {
  const [most, needs] = [openFilesMax(pid), connectionsMax + limits.openFilesReserve];
  if (most >= needs) return ok('open files', `the limit of ${most} leaves room for ${connectionsMax} connections`);
  return wrong(
    'open files',
    `the limit of ${most} open files is below the ${needs} that CAIRN_CONNECTIONS=${connectionsMax} needs; ` +
      'raise it (ulimit -n, LimitNOFILE) or lower CAIRN_CONNECTIONS.',
  );
}

export const checkMap = (mapBytes: number): Finding =>
  checkAttempt('address space', `a data file of ${size(mapBytes)} fits`, () => checkAddressSpace(mapBytes));

/** Checks the disk of the data folder: free space, and whether flushed data is durable. */
export function checkDisk(folder: string, mapBytes: number): Finding[] {
  const { bavail, blocks, bsize, type } = statfsSync(folder);
  const [free, whole] = [bavail * bsize, blocks * bsize];
  const path = join(folder, DATA_FILE);
  const data = existsSync(path) ? statSync(path).size : 0;
  const network = NETWORK_DISKS.get(type);
  const kind =
    network !== undefined
      ? [
          wrong(
            'disk',
            `CAIRN_DATA is on a network file system (${network}), which may lose what was acknowledged; use a local disk.`,
          ),
        ]
      : type === TMPFS
        ? [wrong('disk', 'CAIRN_DATA is in memory (tmpfs) and is lost at the next boot; use a disk.')]
        : [];
  const full = `${size(free)} of ${size(whole)} free`;
  const room =
    free < Math.max(limits.diskFreeBytesMin, whole / 20)
      ? wrong('space', `${full}; free some space: below ${size(limits.diskFreeBytesMin)} writes are refused.`)
      : free < data
        ? note(
            'space',
            `${full}, less than the ${size(data)} of the data file; an upgrade and \`cairn compact\` need as much.`,
          )
        : ok('space', full);
  const map =
    data > 0.8 * mapBytes
      ? [
          wrong(
            'data file',
            `${size(data)}, more than 80% of CAIRN_MAP_BYTES (${size(mapBytes)}); raise it and restart.`,
          ),
        ]
      : [];
  return [...kind, room, ...map];
}

/** Compares the clock with the newest time in the data file, in milliseconds; 0: the file contains none. */
export function checkClock(newestMs: number, nowMs: number): Finding {
  const now = new Date(nowMs).toISOString();
  if (nowMs < BUILT_MS) return wrong('clock', `the clock shows ${now}; set it (timedatectl set-ntp true).`);
  if (isFromTheFuture(newestMs, nowMs)) {
    return wrong(
      'clock',
      `the clock shows ${now}, earlier than data written at ${new Date(newestMs).toISOString()}; set it (timedatectl set-ntp true). ` +
        'If it is right now and was wrong then, run `cairn doctor --fix-clock`.',
    );
  }
  if (newestMs > 0 && nowMs - newestMs > limits.clockJumpMs) {
    return note(
      'clock',
      `${now}, more than a day after the newest data; if that is wrong, set it before you start the service.`,
    );
  }
  return ok('clock', now);
}
