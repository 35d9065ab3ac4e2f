/** Makes the data folder of a member a hub of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { allTables } from '../../compose/tables.ts';
import type { Config } from '../../config.ts';
import { ControlSocket } from '../../control/socket.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { leaveLog, placeOfFile } from '../../store/logged/place.ts';
import { startNewEpoch } from '../../store/meta/epoch.ts';
import { HUB } from '../../store/owners.ts';
import { Store } from '../../store/store.ts';

/**
 * Takes the data file of a stopped member out of its log. Resolves with the position of the newest record that it has.
 * @throws StartError when the member runs, or the folder belongs to no log
 */
export async function leave({ dataFolder: folder, mapBytes }: Config): Promise<number> {
  if (!existsSync(join(folder, DATA_FILE))) throw noHub(folder);
  const lock = await ControlSocket.acquire(folder, () =>
    Promise.resolve('{"ok":false,"error":"this member is leaving its log"}'),
  );
  try {
    const store = new Store({ folder, tables: allTables, mapBytes });
    try {
      const place = placeOfFile(store);
      if (place === undefined) throw new StartError('this data folder belongs to no log.');
      if (place.isPartial === true) throw new StartError('this data folder does not have the whole hub yet.');
      // From here on the log and this file go their own ways: cursors of one mean nothing in the other.
      await startNewEpoch(store);
      await store.write(HUB, leaveLog);
      return place.position;
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
}
