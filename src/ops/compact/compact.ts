/**
 * Returns free space of the data file to the disk: immediately if no service is running, otherwise at the next start.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { askControl, ControlSocket } from '../../control/socket.ts';
import { makeCopyAside, swapIn } from '../../store/copies/swap.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';

export interface Compacted {
  readonly bytes_before: number;
  /** Size of the new file. */
  readonly bytes_after: number;
  /** False: a service is running, and its next start switches to the new file. */
  readonly swapped: boolean;
}

/**
 * Compacts the data file of a folder.
 * @throws StartError when there is no data file, no room for a copy, or the data file is damaged
 */
export async function compact(
  { dataFolder: folder, mapBytes }: Pick<Config, 'dataFolder' | 'mapBytes'>,
  onProgress: (done: number, total: number) => void,
): Promise<Compacted> {
  if (!existsSync(join(folder, DATA_FILE))) throw noHub(folder);
  const options = { folder, mapBytes, onProgress };
  const before = bytesOf(folder);
  if (await isServed(folder)) {
    await makeCopyAside(options);
    return { bytes_before: before, bytes_after: bytesOf(join(folder, 'compacted')), swapped: false };
  }
  // The control socket locks the folder: no service can start on it during compaction.
  const lock = await ControlSocket.acquire(folder, () =>
    Promise.resolve('{"ok":false,"error":"the data file is being compacted"}'),
  );
  try {
    await makeCopyAside(options);
    const swapped = (await swapIn(options)) !== undefined;
    return { bytes_before: before, bytes_after: bytesOf(swapped ? folder : join(folder, 'compacted')), swapped };
  } finally {
    await lock.release();
  }
}

const bytesOf = (folder: string): number => statSync(join(folder, DATA_FILE)).size;

/** True when a process serves the folder: any answer counts. */
async function isServed(folder: string): Promise<boolean> {
  return (await askControl(folder, '{}')) !== undefined;
}
