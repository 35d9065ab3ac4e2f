/** The tools of file sync, in the order in which they are listed. */
import type { Tool } from '../gateway/tool.ts';
import { compareTools } from './compare-tools.ts';
import { syncPendingConflicts, syncResolveConflict } from './conflict-tools.ts';
import { vaultClone, vaultConnectStatus } from './device-tools.ts';
import { syncHistory, syncRestore } from './history-tools.ts';
import { syncList, syncPull } from './pull-tools.ts';
import { syncPush } from './push-tool.ts';
import type { Sync } from './service.ts';
import { vaultSync } from './vault-sync-tool.ts';
import { vaultCreate, vaultList } from './vault-tools.ts';

export function syncTools(sync: Sync): Tool[] {
  const push = syncPush(sync.push);
  const pull = syncPull(sync.reading);
  const list = syncList(sync.reading);
  return [
    vaultList(sync.vaults),
    vaultCreate(sync.vaults),
    vaultClone(sync.reading),
    vaultConnectStatus(sync.reading),
    vaultSync(sync.reading, { push, pull, list }),
    push,
    pull,
    list,
    ...compareTools(sync),
    syncHistory(sync.history),
    syncRestore(sync.history),
    syncPendingConflicts(sync.conflicts),
    syncResolveConflict(sync.conflicts),
  ];
}
