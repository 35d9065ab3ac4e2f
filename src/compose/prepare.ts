/** Prepares a data file for serving, after this process has locked its folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dropCopy, hasCopy, swapIn } from '../store/copies/swap.ts';
import { isKeyExposed, loadMasterKey } from '../store/sealing/master-key.ts';
import { NEXT_KEY_FILE, settleKey } from '../store/sealing/own-key.ts';
import { Store } from '../store/store.ts';
import { type UpgradeOptions, upgrade } from './schema/upgrade.ts';

export interface PrepareOptions extends Omit<UpgradeOptions, 'masterKey'> {
  /** CAIRN_MASTER_KEY, if set. */
  readonly masterKey: string | undefined;
}

const KEY_EXPOSED =
  'other users of this machine can read master.key in the data folder; run chmod 600 on it, and `cairn rekey` if somebody may have read it';

/**
 * Completes an interrupted change of the key, uses a compacted file and upgrades the schema. Returns the master key.
 */
export async function prepareData(options: PrepareOptions): Promise<Uint8Array> {
  const { dataFolder, masterKey: setting, log } = options;
  await finishRekey(options);
  const masterKey = loadMasterKey(dataFolder, setting);
  if (setting === undefined && isKeyExposed(dataFolder)) log.warn(KEY_EXPOSED);
  await useCompacted(options);
  await upgrade({ ...options, masterKey });
  return masterKey;
}

/** Completes an interrupted change of the master key. */
async function finishRekey({ dataFolder: folder, mapBytes, masterKey, tables }: PrepareOptions): Promise<void> {
  if (masterKey !== undefined || !existsSync(join(folder, NEXT_KEY_FILE))) return;
  const store = new Store({ folder, tables, mapBytes, readOnly: true });
  settleKey(folder, store);
  await store.close();
}

/**
 * Swaps in the file made by `cairn compact` while the service ran. If anything is wrong with it, the data file is kept.
 */
async function useCompacted({ dataFolder: folder, mapBytes, log }: PrepareOptions): Promise<void> {
  if (!hasCopy(folder)) {
    dropCopy(folder);
    return;
  }
  try {
    const changed = await swapIn({ folder, mapBytes, onProgress: () => undefined });
    if (changed === undefined)
      log.warn('another process reads the data file; the compacted file is used at the next start');
    else log.info({ changed }, 'the data file is compacted');
  } catch (error) {
    dropCopy(folder);
    log.error({ err: error }, 'the compacted file is not used; the data file is as it was');
  }
}
