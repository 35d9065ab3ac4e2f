/** Opens what a backup copies: the data file, beside a running service or not, and whether LMDB can open it or not. */
import { constants, copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { ControlSocket } from '../../control/socket.ts';
import { BrokenFile } from '../../store/data-file/check.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { type ChangedPage, checkPageSums } from '../../store/data-file/page-sums.ts';
import { loadMasterKey } from '../../store/sealing/master-key.ts';
import { masterKeyOf } from '../../store/sealing/own-key.ts';
import type { Store } from '../../store/store.ts';

export interface BackupSource {
  readonly masterKey: Uint8Array;
  readonly copyTo: (path: string) => Promise<void>;
  /** Size of the data file. */
  readonly bytes: number;
  /** Pages of the data file whose bytes have changed since an earlier `cairn verify`; empty without one. */
  readonly changedPages: () => readonly ChangedPage[];
  readonly close: () => Promise<void>;
}

type SourceConfig = Pick<Config, 'dataFolder' | 'masterKey'>;

/**
 * Opens the data file with `open`. One that is too broken to be opened is copied as bytes, under the lock of its folder.
 * @throws StartError when there is no data file or no key, or when a service runs on a file too broken to be opened
 */
export async function openSource(config: SourceConfig, open: () => Promise<Store>): Promise<BackupSource> {
  const { dataFolder, masterKey } = config;
  let store: Store;
  try {
    store = await open();
  } catch (error) {
    if (error instanceof BrokenFile) return await lockBroken(config);
    throw error;
  }
  try {
    return {
      masterKey: masterKeyOf(dataFolder, masterKey, store),
      copyTo: (path) => store.copyTo(path),
      bytes: sizeOf(dataFolder),
      changedPages: () => changedPages(store, dataFolder),
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

const sizeOf = (dataFolder: string): number => statSync(join(dataFolder, DATA_FILE)).size;

function changedPages(store: Store, dataFolder: string): readonly ChangedPage[] {
  // Pages that are broken are found in the copy, which is then saved row by row.
  if (store.damagedPages().length > 0) return [];
  const moment = store.snapshot();
  try {
    return checkPageSums(dataFolder, false);
  } finally {
    moment.close();
  }
}

/** Nothing writes the file while its folder is locked. */
async function lockBroken({ dataFolder, masterKey }: SourceConfig): Promise<BackupSource> {
  const key = loadMasterKey(dataFolder, masterKey);
  const lock = await ControlSocket.acquire(dataFolder, () =>
    Promise.resolve('{"ok":false,"error":"the data file is being saved"}'),
  );
  return {
    masterKey: key,
    copyTo(path) {
      copyFileSync(join(dataFolder, DATA_FILE), path, constants.COPYFILE_FICLONE);
      return Promise.resolve();
    },
    bytes: sizeOf(dataFolder),
    // Its broken pages are told.
    changedPages: () => [],
    close: () => lock.release(),
  };
}
