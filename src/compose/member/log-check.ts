/** Keeps whoever has no log from writing into the data folder of a member. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import type { Config } from '../../config.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { placeOfFile, replicationTables } from '../../store/logged/place.ts';
import { metaTables } from '../../store/meta/meta.ts';
import { isUnwritten, schemaOf } from '../../store/meta/schema.ts';
import { Store } from '../../store/store.ts';
import { SCHEMA } from '../schema/steps.ts';
import type { Ownership } from './ownership.ts';

export const NOT_RUNNING =
  'this hub writes through a log that it shares with other members, so a command cannot open its data folder; start the service (cairn serve), then run the command where it owns the log.';

const HAS_LOG =
  'the data folder belongs to a log that several members share; set CAIRN_LOG and CAIRN_MASTER_KEY, or run `cairn member leave` to make it a hub of its own.';

/** Throws StartError when the data file of a folder belongs to a log. `sentence`: what to do. */
export function refuseLogged(config: Pick<Config, 'dataFolder' | 'mapBytes'>, sentence: string): void {
  const { dataFolder: folder, mapBytes } = config;
  const store = new Store({ folder, mapBytes, tables: replicationTables, readOnly: true });
  try {
    if (placeOfFile(store) !== undefined) throw new StartError(sentence);
  } finally {
    void store.close();
  }
}

/** Throws StartError when a folder belongs to a log and this process does not own it, and when the log is of another schema. */
export function checkLog({ dataFolder: folder, mapBytes }: Config, ownership: Ownership | undefined): void {
  if (!existsSync(join(folder, DATA_FILE))) return;
  const store = new Store({ folder, mapBytes, tables: [...metaTables, ...replicationTables], readOnly: true });
  try {
    const place = placeOfFile(store);
    if (ownership === undefined && place !== undefined) throw new StartError(HAS_LOG);
    if (ownership === undefined || isUnwritten(store)) return;
    const schema = schemaOf(store);
    if (schema === SCHEMA) return;
    throw new StartError(
      `the hub in the log has the data schema ${schema}, and this version of cairn has ${SCHEMA}; run all members with the version that wrote it. ` +
        'To upgrade: stop all, run `cairn member leave` in one data folder, start it once without CAIRN_LOG, then set CAIRN_LOG to a new log.',
    );
  } finally {
    void store.close();
  }
}
