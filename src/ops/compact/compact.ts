/** Gives free space of the data file back to the disk: at once when no service has it, else at the next start. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { askControl, ControlSocket } from '../../control/socket.ts';
import { makeCopyAside, swapIn } from '../../store/copies/swap.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/name.ts';

export interface Compacted {
  readonly bytes_before: number;
  /** Of the new file. */
  readonly bytes_after: number;
  /** False: a service has the folder, and its next start swaps the new file in. */
  readonly swapped: boolean;
}

/**
 * Compacts the data file of a folder.
 * @throws StartError when there is none, no room for a copy, or the data file is damaged
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
  // Whoever has the socket has the folder: no service starts on it meanwhile.
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

/** Whether a process serves the folder: it answers, whatever it makes of the question. */
async function isServed(folder: string): Promise<boolean> {
  return (await askControl(folder, '{}')) !== undefined;
}
