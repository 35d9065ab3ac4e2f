/** Owns how a command reads the data file beside the service that has it, or without one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/name.ts';
import type { Store } from '../../store/store.ts';

/** The store of a folder, for reading. Throws StartError when there is none. */
export async function openForReading({
  dataFolder: folder,
  mapBytes,
}: Pick<Config, 'dataFolder' | 'mapBytes'>): Promise<Store> {
  if (!existsSync(join(folder, DATA_FILE))) throw noHub(folder);
  const { allTables } = await import('../../compose/core.ts');
  const { refuseOtherSchema } = await import('../../compose/schema/upgrade.ts');
  const library = await import('../../store/store.ts');
  const store = new library.Store({ folder, tables: allTables, mapBytes, readOnly: true });
  refuseOtherSchema(store);
  return store;
}
