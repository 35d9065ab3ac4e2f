/** Checks whether a data folder contains a hub. A mark file tells an interrupted first start from a lost data file. */
import { accessSync, constants, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { DATA_FILE, KEY_FILE, RESTORE_FOLDER } from './names.ts';
import { syncPath } from './sync-path.ts';

/** Exists from before the first byte of a new hub until it is kept. */
const MARK_FILE = 'first-start';

/** The error of a command that needs an existing hub, for a folder without one. */
export function noHub(folder: string): StartError {
  if (existsSync(folder) && statSync(folder).isFile()) {
    return new StartError(`CAIRN_DATA (${folder}) is a file; set it to the folder of the hub.`);
  }
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') {
      return new StartError(
        `CAIRN_DATA (${folder}) cannot be read by this user; run the command as the user of the hub (sudo -u cairn …).`,
      );
    }
  }
  return (
    halfRestored(folder) ??
    new StartError(
      `CAIRN_DATA names a folder without a data file (${folder}); set it to the folder of the hub, or make a new hub there with \`cairn serve\`.`,
    )
  );
}

/** Throws StartError when a restore was interrupted: an empty hub is not what anybody wants there. The folder is locked. */
export function refuseHalfRestored(folder: string): void {
  const half = halfRestored(folder);
  if (half !== undefined) throw half;
}

function halfRestored(folder: string): StartError | undefined {
  if (existsSync(join(folder, DATA_FILE)) || !existsSync(join(folder, RESTORE_FOLDER))) return undefined;
  return new StartError(
    `a restore into CAIRN_DATA was interrupted; run \`cairn restore\` again, or remove the folder ${RESTORE_FOLDER} in it to start an empty hub.`,
  );
}

/** A data folder that this process has locked. Neither function does anything to a hub that was there before. */
export interface PreparedFolder {
  /** Keeps a new hub from now on. */
  readonly keep: () => void;
  /** Removes a new hub that was not kept: no client has data in it. */
  readonly drop: () => void;
}

/**
 * Checks a folder before its data file is opened for writing, and marks the start of a new hub.
 * @throws StartError when there is no hub and `mayMake` is false, or when the key file exists without its data file
 */
export function prepareFolder(folder: string, mayMake: boolean): PreparedFolder {
  const mark = join(folder, MARK_FILE);
  if (existsSync(join(folder, DATA_FILE)) && !existsSync(mark)) return { keep: () => undefined, drop: () => undefined };
  if (!mayMake) throw noHub(folder);
  const files = [DATA_FILE, `${DATA_FILE}-lock`];
  // A key that is here already stays: it may be the one of a backup.
  const own = existsSync(join(folder, KEY_FILE)) ? files : [...files, KEY_FILE];
  const prepared = { keep: () => endFirstStart(folder), drop: () => removeUnkept(folder, own) };
  if (existsSync(mark)) {
    // Safe: the mark is removed before the first request is served, so no client has data in this file.
    for (const name of files) rmSync(join(folder, name), { force: true });
    return prepared;
  }
  if (existsSync(join(folder, KEY_FILE))) {
    throw new StartError(
      `CAIRN_DATA has ${KEY_FILE} but no ${DATA_FILE}; restore a backup (\`cairn restore\`), or remove ${KEY_FILE} to start an empty hub.`,
    );
  }
  writeFileSync(mark, '', { mode: 0o600 });
  syncPath(folder);
  return prepared;
}

/** Removes a new hub, the mark last. Does nothing without the mark. */
function removeUnkept(folder: string, files: readonly string[]): void {
  if (!existsSync(join(folder, MARK_FILE))) return;
  for (const name of [...files, MARK_FILE]) rmSync(join(folder, name), { force: true });
}

/** Removes the mark of a new hub. */
function endFirstStart(folder: string): void {
  rmSync(join(folder, MARK_FILE), { force: true });
  syncPath(folder);
}
