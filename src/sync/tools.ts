/** The tools of file sync, in the order in which they are listed. */
import type { Tool } from '../gateway/tool.ts';
import { compareTools } from './compare-tools.ts';
import { syncPendingConflicts, syncResolveConflict } from './conflict-tools.ts';
import { syncHistory, syncRestore } from './history-tools.ts';
import { syncList, syncPull } from './pull-tools.ts';
import { syncPush } from './push-tool.ts';
import type { Sync } from './service.ts';
import { vaultCreate, vaultList } from './vault-tools.ts';

export function syncTools(sync: Sync): Tool[] {
  return [
    vaultList(sync.vaults),
    vaultCreate(sync.vaults),
    syncPush(sync.push),
    syncPull(sync.reading),
    syncList(sync.reading),
    ...compareTools(sync),
    syncHistory(sync.history),
    syncRestore(sync.history),
    syncPendingConflicts(sync.conflicts),
    syncResolveConflict(sync.conflicts),
  ];
}
