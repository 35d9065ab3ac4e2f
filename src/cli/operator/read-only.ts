/** Opens the data file for reading, with or without a running service. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { BrokenFile } from '../../store/data-file/check.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import type { Store } from '../../store/store.ts';

/** Opens the store of a data folder for reading. Throws StartError when it does not exist, and BrokenFile. */
export async function openForReading({
  dataFolder: folder,
  mapBytes,
}: Pick<Config, 'dataFolder' | 'mapBytes'>): Promise<Store> {
  if (!existsSync(join(folder, DATA_FILE))) throw noHub(folder);
  const { allTables } = await import('../../compose/tables.ts');
  const { refuseOtherSchema } = await import('../../compose/schema/upgrade.ts');
  const { SCHEMA } = await import('../../compose/schema/steps.ts');
  const { schemaOf } = await import('../../store/meta/schema.ts');
  const library = await import('../../store/store.ts');
  const store = new library.Store({ folder, tables: allTables, mapBytes, readOnly: true });
  // A damaged page can make the schema version look older than it is.
  if (schemaOf(store) !== SCHEMA) refuseDamaged(store.damagedPages());
  refuseOtherSchema(store);
  return store;
}

function refuseDamaged([first]: readonly string[]): void {
  if (first === undefined) return;
  throw new BrokenFile(
    `the data file is damaged (${first}); keep it, and restore a backup into an empty folder (\`cairn restore\`).`,
  );
}
