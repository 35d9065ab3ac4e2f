/** Owns how a command reads the data file beside the service that has it, or without one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { allTables } from '../../compose/core.ts';
import { refuseOtherSchema } from '../../compose/schema/upgrade.ts';
import type { Config } from '../../config.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE, Store } from '../../store/store.ts';

/** The store of a folder, for reading. Throws StartError when there is none. */
export function openForReading({ dataFolder: folder, mapBytes }: Pick<Config, 'dataFolder' | 'mapBytes'>): Store {
  if (!existsSync(join(folder, DATA_FILE))) throw noHub(folder);
  const store = new Store({ folder, tables: allTables, mapBytes, readOnly: true });
  refuseOtherSchema(store);
  return store;
}
