/** Watches the tables shown on pages, and reports each durable write to them. */

import { keys, sessionOwners } from '../../accounts/records.ts';
import { standings } from '../../accounts/standing/records.ts';
import { auditEvents } from '../../audit/records.ts';
import { devDocs } from '../../documents/dev-docs/records.ts';
import { handoffs } from '../../documents/handoffs/records.ts';
import { papers } from '../../documents/papers/records.ts';
import { blobs, credentials } from '../../mirror/records.ts';
import type { Store } from '../../store/store.ts';
import type { AnyTable, Key } from '../../store/table.ts';
import { vaultHeads, vaultOwners, vaults } from '../../sync/log/records.ts';
import { categories, tasks } from '../../tasks/records.ts';
import type { LiveTopic } from '../visit.ts';
import type { LiveChanges } from './changes.ts';

/** Tables with keys that begin with the account. */
const OF_ACCOUNTS: readonly (readonly [AnyTable, LiveTopic])[] = [
  [tasks, 'tasks'],
  [categories, 'tasks'],
  [vaults, 'vaults'],
  [devDocs, 'documents'],
  [handoffs, 'documents'],
  [papers, 'documents'],
  [blobs, 'mirror'],
  [credentials, 'mirror'],
  [keys, 'account'],
  [auditEvents, 'account'],
];

/** Tables that determine whether a page may stay open. */
const OF_ACCESS: readonly AnyTable[] = [sessionOwners, standings];

export function watchTables(store: Pick<Store, 'watch' | 'get'>, changes: LiveChanges): void {
  for (const [table, topic] of OF_ACCOUNTS) {
    afterWrites(store, table, (written) => {
      for (const [accountId, rows] of counted(written)) changes.note(accountId, topic, rows);
    });
  }
  // Each change of a vault writes its head. The key of a head contains only the vault, so the owner is looked up.
  afterWrites(store, vaultHeads, (written) => {
    for (const [vaultId, rows] of counted(written)) {
      const owner = store.get(vaultOwners, [vaultId]);
      if (owner !== undefined) changes.note(owner.account_id, 'vaults', rows);
    }
  });
  for (const table of OF_ACCESS) {
    afterWrites(store, table, (written) => {
      for (const accountId of counted(written).keys()) changes.recheck(accountId);
    });
  }
}

/** Calls `tell` after each commit to the table, in a separate turn, because listeners read the store. */
function afterWrites(store: Pick<Store, 'watch'>, table: AnyTable, tell: (keys: readonly Key[]) => void): void {
  store.watch(table, (written) => () => setImmediate(tell, written));
}

/** The number of written rows for each first part of a key. */
function counted(written: readonly Key[]): Map<string, number> {
  const rows = new Map<string, number>();
  for (const [first] of written) rows.set(String(first), (rows.get(String(first)) ?? 0) + 1);
  return rows;
}
