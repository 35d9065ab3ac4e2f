/** Makes a data file ready to be served, once this process has its folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dropCopy, hasCopy, swapIn } from '../store/copies/swap.ts';
import { isKeyExposed, loadMasterKey } from '../store/sealing/master-key.ts';
import { NEXT_KEY_FILE, settleKey } from '../store/sealing/own-key.ts';
import { Store } from '../store/store.ts';
import { type UpgradeOptions, upgrade } from './schema/upgrade.ts';

export interface PrepareOptions extends Omit<UpgradeOptions, 'masterKey'> {
  /** CAIRN_MASTER_KEY, when it is set. */
  readonly masterKey: string | undefined;
}

const KEY_EXPOSED =
  'other users of this machine can read master.key in the data folder; run chmod 600 on it, and rotate what it protects if they may have';

/** What is done to a data file before it serves: a cut-off change of the key ended, compacted, upgraded. Returns the master key. */
export async function prepareData(options: PrepareOptions): Promise<Uint8Array> {
  const { dataFolder, masterKey: setting, log } = options;
  await finishRekey(options);
  const masterKey = loadMasterKey(dataFolder, setting);
  if (setting === undefined && isKeyExposed(dataFolder)) log.warn(KEY_EXPOSED);
  await useCompacted(options);
  await upgrade({ ...options, masterKey });
  return masterKey;
}

/** Ends a change of the master key that was cut off. */
async function finishRekey({ dataFolder: folder, mapBytes, masterKey, tables }: PrepareOptions): Promise<void> {
  if (masterKey !== undefined || !existsSync(join(folder, NEXT_KEY_FILE))) return;
  const store = new Store({ folder, tables, mapBytes, readOnly: true });
  settleKey(folder, store);
  await store.close();
}

/** Swaps in the file that `cairn compact` made beside the service. Whatever is wrong with it, the data file itself serves. */
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
