/** A hub whose data folder is a small file system of its own, which only its processes see. */
import { execFile } from 'node:child_process';
import { CAIRN, cleanEnvironment, type Hub, startHub } from './hub.ts';
import { succeeds } from './succeeds.ts';

/** Whether this machine lets a user make such a file system. */
export const canUnshare = succeeds('unshare', '-rm', 'sh', '-c', 'mount -t tmpfs -o size=1m tmpfs /mnt');

/** The wrapper of a hub whose data folder is a new disk of `mebibytes`. */
export function onSmallDisk(mebibytes: number): readonly string[] {
  const mount = `mount -t tmpfs -o size=${mebibytes}m tmpfs "$CAIRN_DATA" && exec "$@"`;
  return ['unshare', '-rm', 'sh', '-c', mount, 'sh'];
}

/** Starts a hub on a new disk of `mebibytes`. Its `cli` runs where that disk is seen. */
export async function startHubOnSmallDisk(mebibytes: number): Promise<Hub> {
  const hub = await startHub({ wrapper: onSmallDisk(mebibytes) });
  const inside = ['-t', String(hub.process.pid), '-m', '-U', '--preserve-credentials', process.execPath, CAIRN];
  const env = cleanEnvironment({ CAIRN_DATA: hub.dataFolder });
  return {
    ...hub,
    reachedFolder: `/proc/${hub.process.pid}/root${hub.dataFolder}`,
    cli: (...args) =>
      new Promise((resolve) => {
        execFile('nsenter', [...inside, ...args], { env }, (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, stdout, stderr });
        });
      }),
  };
}
