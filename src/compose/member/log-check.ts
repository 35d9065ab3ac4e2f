/** Keeps whoever has no log from writing into the data folder of a member. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import type { Config } from '../../config.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { placeOfFile, replicationTables } from '../../store/logged/place.ts';
import { Store } from '../../store/store.ts';
import type { Ownership } from './ownership.ts';

export const NOT_RUNNING =
  'this hub writes through a log that it shares with other members, so a command cannot open its data folder; start the service (cairn serve), then run the command where it owns the log.';

const HAS_LOG =
  'the data folder belongs to a log that several members share; set CAIRN_LOG and CAIRN_MASTER_KEY, or run `cairn member leave` to make it a hub of its own.';

/** True when the data file of a folder belongs to a log. */
export async function isLogged({
  dataFolder: folder,
  mapBytes,
}: Pick<Config, 'dataFolder' | 'mapBytes'>): Promise<boolean> {
  const store = new Store({ folder, mapBytes, tables: replicationTables, readOnly: true });
  try {
    return placeOfFile(store) !== undefined;
  } finally {
    await store.close();
  }
}

/** Throws StartError when a folder belongs to a log and this process does not own it. */
export async function checkLog({ dataFolder, mapBytes }: Config, ownership: Ownership | undefined): Promise<void> {
  if (ownership !== undefined || !existsSync(join(dataFolder, DATA_FILE))) return;
  if (await isLogged({ dataFolder, mapBytes })) throw new StartError(HAS_LOG);
}
