/**
 * Changes the master key of a stopped hub. Reseals the sealed fields in one commit; keys, tokens and sessions stay
 * valid (see `store/sealing/own-key.ts`). After a crash at any moment, the data file and a matching key exist.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { isLogged } from '../../compose/member/log-check.ts';
import { refuseOtherSchema } from '../../compose/schema/upgrade.ts';
import { allTables } from '../../compose/tables.ts';
import type { Config } from '../../config.ts';
import { ControlSocket } from '../../control/socket.ts';
import { credentials } from '../../mirror/records.ts';
import { resealCredentials } from '../../mirror/reseal.ts';
import { makeCopyAside, swapIn } from '../../store/copies/swap.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE, KEY_FILE } from '../../store/data-file/names.ts';
import { syncPath } from '../../store/data-file/sync-path.ts';
import { UPGRADE } from '../../store/owners.ts';
import { checkMasterKey } from '../../store/sealing/key-check.ts';
import { loadMasterKey, writeKeyFile } from '../../store/sealing/master-key.ts';
import { moveHashKey, NEXT_KEY_FILE, openSealer, settleKey } from '../../store/sealing/own-key.ts';
import { Store } from '../../store/store.ts';

const KEY_BYTES = 32;

export interface Rekeyed {
  /** Number of credentials resealed. */
  readonly credentials: number;
  /** Whether the data file was compacted, so that no free page contains data sealed with the old key. */
  readonly compacted: boolean;
}

/**
 * Changes the key.
 * @param given the new key; undefined: a random one, written to the key file
 * @throws StartError when a service uses the folder, the old key is wrong, or the new key is missing
 */
export async function rekey(config: Config, given: Uint8Array | undefined): Promise<Rekeyed> {
  const { dataFolder: folder, mapBytes, masterKey } = config;
  if (!existsSync(join(folder, DATA_FILE))) throw noHub(folder);
  if (masterKey !== undefined && given === undefined) {
    throw new StartError(
      'CAIRN_MASTER_KEY is set, so the new key must be given: openssl rand -hex 32 > FILE, then cairn rekey --key-stdin < FILE.',
    );
  }
  const lock = await ControlSocket.acquire(folder, () =>
    Promise.resolve('{"ok":false,"error":"the master key is being changed"}'),
  );
  try {
    const next = given ?? randomBytes(KEY_BYTES);
    const count = await change(config, next);
    if (masterKey === undefined) {
      renameSync(join(folder, NEXT_KEY_FILE), join(folder, KEY_FILE));
      syncPath(folder);
    }
    return { credentials: count, compacted: await compactAfter(folder, mapBytes) };
  } finally {
    await lock.release();
  }
}

/**
 * Commits the change. With a key file, the new key is on disk before the commit. Returns the number of resealed
 * credentials.
 */
async function change({ dataFolder: folder, mapBytes, masterKey }: Config, next: Uint8Array): Promise<number> {
  // The other members get the change from the log, once this one owns it again.
  const log = (await isLogged({ dataFolder: folder, mapBytes })) ? 'later' : undefined;
  const store = new Store({ folder, tables: allTables, mapBytes, log });
  try {
    refuseOtherSchema(store);
    if (masterKey === undefined) settleKey(folder, store);
    const from = loadMasterKey(folder, masterKey);
    const sealer = openSealer(store, from);
    await checkMasterKey(store, sealer);
    if (Buffer.from(from).equals(next))
      throw new StartError('the new master key equals the current one; generate another with openssl rand -hex 32.');
    if (masterKey === undefined) keepNextKey(folder, next);
    const accountIds = [...store.keys(credentials)].map(([accountId]) => accountId);
    return await store.write(UPGRADE, (batch) => {
      const to = moveHashKey(batch, from, next);
      return resealCredentials(batch, accountIds, sealer, to);
    });
  } catch (error) {
    // Removed only if certainly unused: after a failed commit, the next start decides which key is current.
    if (error instanceof StartError) rmSync(join(folder, NEXT_KEY_FILE), { force: true });
    throw error;
  } finally {
    await store.close();
  }
}

/** Writes the new key to disk. Throws StartError when the disk refuses it. */
function keepNextKey(folder: string, next: Uint8Array): void {
  try {
    writeKeyFile(folder, NEXT_KEY_FILE, next);
    syncPath(folder);
  } catch (error) {
    throw new StartError(`the new key could not be written, and nothing has changed: ${systemReason(error)}`);
  }
}

/**
 * Compacts the data file, because its free pages still contain the old sealed fields. Returns false when there is no
 * room for a copy.
 */
async function compactAfter(folder: string, mapBytes: number): Promise<boolean> {
  const options = { folder, mapBytes, onProgress: () => undefined };
  try {
    await makeCopyAside(options);
    return (await swapIn(options)) !== undefined;
  } catch (error) {
    if (error instanceof StartError) return false;
    throw error;
  }
}
