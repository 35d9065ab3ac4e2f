/** Lists the tools of file sync in their published order. */
import type { CallerName } from '../../common/principal.ts';
import type { Tool } from '../../gateway/tool.ts';
import type { Sync } from '../service.ts';
import { compareTools } from './compare.ts';
import { syncPendingConflicts, syncResolveConflict } from './conflicts.ts';
import { vaultClone, vaultConnectStatus } from './devices.ts';
import { syncHistory, syncRestore } from './history.ts';
import { syncList, syncPull } from './pull.ts';
import { syncPush } from './push.ts';
import { syncPushMany } from './push-many.ts';
import { syncRestoreFolder } from './restore-folder.ts';
import { vaultSync } from './vault-sync.ts';
import { vaultCreate, vaultDelete, vaultList, vaultRename } from './vaults.ts';

export function syncTools(sync: Sync, deviceOf: CallerName): Tool[] {
  const push = syncPush(sync.push, deviceOf);
  const pull = syncPull(sync.reading);
  const list = syncList(sync.reading);
  return [
    vaultList(sync.vaults),
    vaultCreate(sync.vaults),
    vaultRename(sync.vaults),
    vaultDelete(sync.vaults, sync.removal),
    vaultClone(sync.reading),
    vaultConnectStatus(sync.reading),
    vaultSync(sync.reading, { push, pull, list }),
    push,
    syncPushMany(sync.pushMany, deviceOf),
    pull,
    list,
    ...compareTools(sync),
    syncHistory(sync.history),
    syncRestore(sync.history),
    syncRestoreFolder(sync.asOf),
    syncPendingConflicts(sync.conflicts),
    syncResolveConflict(sync.conflicts),
  ];
}
