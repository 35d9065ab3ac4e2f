/**
 * Every step from one schema of the data file to the next, oldest first. A change of what rows hold, or of which tables there
 * are for rows that exist, adds a step here; before that, `test/support/keep-data-file.ts` keeps a file of the schema it ends.
 */
import { usagePerAccount } from '../../quotas/usage-per-account.ts';
import type { Migration } from '../../store/data-file/schema.ts';
import { keptPerVault } from '../../sync/vaults/kept-per-vault.ts';
import { usagePerVault } from '../../sync/vaults/usage-per-vault.ts';

/** 2: the data file says its schema. Rows stay as they are. */
const numbered: Migration = {
  to: 2,
  what: 'the data file says its schema',
  tables: [],
  check: () => [],
  piece: () => undefined,
};

export const migrations: readonly Migration[] = [numbered, usagePerVault, usagePerAccount, keptPerVault];

/** The schema that this version reads and writes. */
export const SCHEMA: number = migrations.length + 1;
