/**
 * Removes the rows that a refused, interrupted or killed import left, as distinct from those of existing accounts.
 * Staged contents are removed like all staged bytes.
 */
import { accountImports } from '../accounts/records.ts';
import { removeRows, removeRowsOwnedBy } from '../store/remove-rows.ts';
import type { Store } from '../store/store.ts';
import type { AnyTable } from '../store/table.ts';
import { vaults } from '../sync/log/records.ts';

/** Returns the accounts and vaults of unfinished imports, running or not. Their rows need not be consistent yet. */
export function importedIds(store: Store): ReadonlySet<string> {
  const accountIds = [...store.keys(accountImports)].map(([accountId]) => accountId);
  return new Set(accountIds.flatMap((accountId) => [accountId, ...vaultsOf(store, accountId)]));
}

/**
 * Removes all rows of accounts whose import did not finish, the row of the import last. Resolves with the number of
 * accounts.
 */
export async function dropImports(store: Store, tables: readonly AnyTable[]): Promise<number> {
  const left = [...store.keys(accountImports)].map(([accountId]) => accountId);
  for (const accountId of left) {
    for (const id of [...vaultsOf(store, accountId), accountId]) {
      for (const table of tables) if (table !== accountImports) await removeRows(store, table, [id]);
    }
    for (const table of tables) if (table !== accountImports) await removeRowsOwnedBy(store, table, accountId);
    await removeRows(store, accountImports, [accountId]);
  }
  return left.length;
}

function vaultsOf(store: Store, accountId: string): string[] {
  return [...store.keys(vaults, [accountId])].map(([, vaultId]) => vaultId);
}
