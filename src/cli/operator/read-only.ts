/** Owns how a command reads the data file beside the service that has it, or without one. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { allTables } from '../../compose/core.ts';
import { DATA_FILE, Store } from '../../store/store.ts';

/** The store of a folder, for reading. Throws StartError when there is none. */
export function openForReading(folder: string): Store {
  if (!existsSync(join(folder, DATA_FILE))) {
    throw new StartError('CAIRN_DATA names a folder without a data file; there is nothing to read.');
  }
  return new Store({ folder, tables: allTables, readOnly: true });
}
