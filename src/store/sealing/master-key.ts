/** Loads the master key from the setting, or from a key file in the data folder, created once with mode 0600. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { DATA_FILE, KEY_FILE } from '../data-file/names.ts';
import { writeFlushed } from '../data-file/write-whole.ts';

const KEY_BYTES = 32;

/**
 * Returns the 32 bytes of the master key.
 * @param setting CAIRN_MASTER_KEY, 64 hex characters, or undefined for the key file
 * @throws StartError when the key file is invalid or unreadable, or when the data file exists without a key: a new key could not open
 * any sealed field
 */
export function loadMasterKey(folder: string, setting: string | undefined): Uint8Array {
  if (setting !== undefined) return Buffer.from(setting, 'hex');
  const path = join(folder, KEY_FILE);
  if (existsSync(path)) {
    const text = readKeyFile(path);
    if (!/^[0-9a-f]{64}$/i.test(text)) {
      throw new StartError(
        'the file master.key in the data folder does not contain 64 hex characters; restore it from a backup.',
      );
    }
    return Buffer.from(text, 'hex');
  }
  if (existsSync(join(folder, DATA_FILE))) {
    throw new StartError(
      'the data folder has data but no master.key, and CAIRN_MASTER_KEY is not set; restore the key file or set the key.',
    );
  }
  const key = randomBytes(KEY_BYTES);
  writeMasterKey(folder, key);
  return key;
}

/** The text of a key file. Throws StartError when this user cannot read it. */
export function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new StartError(`${path} cannot be read: ${systemReason(error)}`);
  }
}

/** True when other users of this machine can read the key file. False without a key file, and on Windows. */
export function isKeyExposed(folder: string): boolean {
  const path = join(folder, KEY_FILE);
  return process.platform !== 'win32' && existsSync(path) && (statSync(path).mode & 0o077) !== 0;
}

/** Writes the key file, mode 0600. Throws EEXIST when it exists: a key is never overwritten. */
export function writeMasterKey(folder: string, key: Uint8Array): void {
  writeKeyFile(folder, KEY_FILE, key);
}

/** Like `writeMasterKey`, under another name. */
export function writeKeyFile(folder: string, name: string, key: Uint8Array): void {
  writeFlushed(join(folder, name), Buffer.from(`${Buffer.from(key).toString('hex')}\n`), 'wx');
}
