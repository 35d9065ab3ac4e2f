/** Makes the data folder of a member a hub of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { allTables } from '../../compose/tables.ts';
import { type Config, storeEnvironment } from '../../config.ts';
import { ControlSocket } from '../../control/socket.ts';
import { openCommitLog } from '../../replication/log/open.ts';
import { memberIdentity } from '../../replication/members/identity.ts';
import { noHub } from '../../store/data-file/folder.ts';
import { DATA_FILE } from '../../store/data-file/names.ts';
import { leaveLog, placeOfFile } from '../../store/logged/place.ts';
import { startNewEpoch } from '../../store/meta/epoch.ts';
import { HUB } from '../../store/owners.ts';
import { Store } from '../../store/store.ts';
import { forgetMember, nameOfMember } from './marks.ts';

export interface Left {
  /** The newest record that the data file has. */
  readonly position: number;
  /** The name of the member, if the others were told; they find it away otherwise. */
  readonly forgotten: string | undefined;
}

/**
 * Takes the data file of a stopped member out of its log, and lets the other members forget it.
 * @throws StartError when the member runs, or the folder belongs to no log
 */
export async function leave(config: Config): Promise<Left> {
  const { dataFolder: folder, mapBytes } = config;
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
      return { position: place.position, forgotten: await forgetSelf(config) };
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
}

/** Resolves with the name that the others have forgotten; undefined: no log is set, or it cannot be reached. */
async function forgetSelf({ dataFolder, log: settings }: Config): Promise<string | undefined> {
  if (settings === undefined) return undefined;
  const { instance } = memberIdentity(dataFolder, settings.member);
  try {
    const log = await openCommitLog(settings.url, storeEnvironment());
    try {
      const name = await nameOfMember(log, instance);
      if (name !== undefined) await forgetMember(log, name);
      return name;
    } finally {
      await log.close();
    }
  } catch {
    // The data file has left it. What remains is a mark.
    return undefined;
  }
}
