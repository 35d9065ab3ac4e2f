/** Checks whether a data folder contains a hub. A mark file tells an interrupted first start from a lost data file. */
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { KEY_FILE } from '../sealing/master-key.ts';
import { DATA_FILE } from './name.ts';
import { syncPath } from './sync-path.ts';

/** Exists from before the first byte of a new hub until its first commit. */
const MARK_FILE = 'first-start';

/** The error of a command that needs an existing hub, for a folder without one. */
export function noHub(folder: string): StartError {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') {
      return new StartError(
        `CAIRN_DATA (${folder}) cannot be read by this user; run the command as the user of the hub (sudo -u cairn …).`,
      );
    }
  }
  return new StartError(
    `CAIRN_DATA names a folder without a data file (${folder}); set it to the folder of the hub, or make a new hub there with cairn serve.`,
  );
}

/**
 * Checks a folder before its data file is opened for writing, and marks the start of a new hub.
 * @throws StartError when there is no hub and `mayMake` is false, or when the key file exists without its data file
 */
export function prepareFolder(folder: string, mayMake: boolean): void {
  const mark = join(folder, MARK_FILE);
  if (existsSync(join(folder, DATA_FILE)) && !existsSync(mark)) return;
  if (!mayMake && !existsSync(mark)) throw noHub(folder);
  if (existsSync(mark)) {
    // Safe: the mark is removed before the first request is served, so no client has data in this file.
    for (const name of [DATA_FILE, `${DATA_FILE}-lock`]) rmSync(join(folder, name), { force: true });
    return;
  }
  if (existsSync(join(folder, KEY_FILE))) {
    throw new StartError(
      `CAIRN_DATA has ${KEY_FILE} but no ${DATA_FILE}; restore a backup (cairn restore), or remove ${KEY_FILE} to start an empty hub.`,
    );
  }
  writeFileSync(mark, '', { mode: 0o600 });
  syncPath(folder);
}

/** Removes the mark of a new hub. Call after the first commit, before serving any request. */
export function endFirstStart(folder: string): void {
  rmSync(join(folder, MARK_FILE), { force: true });
  syncPath(folder);
}
