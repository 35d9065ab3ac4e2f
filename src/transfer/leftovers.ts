/**
 * Owns what an import leaves that was refused, cut off, or killed: which rows those are, how they are told from an account
 * that is there, and how they go. Contents that were staged go the way of all staged bytes.
 */
import { accountImports } from '../accounts/records.ts';
import { removeRows, removeRowsOf } from '../store/remove-rows.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { vaults } from '../sync/log/records.ts';
import { taskBin } from '../tasks/records.ts';
import { documentBin } from '../versions/records.ts';

/** Tables whose keys hold an account after a time. */
const BINS: readonly AnyTable[] = [taskBin, documentBin];

/** Accounts and vaults that an import writes, or has left. Until it is through nothing of them has to agree. */
export function importedIds(store: Store): ReadonlySet<string> {
  const accountIds = [...store.keys(accountImports)].map(([accountId]) => accountId);
  return new Set(accountIds.flatMap((accountId) => [accountId, ...vaultsOf(store, accountId)]));
}

/** Removes all rows of accounts that no import has finished, the account's own last. Resolves with how many those were. */
export async function dropImports(store: Store, tables: readonly AnyTable[]): Promise<number> {
  const left = [...store.keys(accountImports)].map(([accountId]) => accountId);
  for (const accountId of left) {
    for (const id of [...vaultsOf(store, accountId), accountId]) {
      for (const table of tables) if (table !== accountImports) await removeRows(store, table, [id]);
    }
    for (const table of BINS) await removeRowsOf(store, table, accountId);
    await removeRows(store, accountImports, [accountId]);
  }
  return left.length;
}

function vaultsOf(store: Store, accountId: string): string[] {
  return [...store.keys(vaults, [accountId])].map(([, vaultId]) => vaultId);
}
