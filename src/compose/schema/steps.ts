/**
 * Lists every migration of the data file from one schema to the next, oldest first. A change of the contents of rows,
 * or of the tables of existing rows, adds a migration here. Before that, `test/support/keep-data-file.ts` saves a file
 * with the previous schema.
 */
import { groupedBlobs } from '../../mirror/groups/grouped-blobs.ts';
import { usagePerAccount } from '../../quotas/usage-per-account.ts';
import type { Migration } from '../../store/meta/schema.ts';
import { countedChunks } from '../../sync/vaults/counted-chunks.ts';
import { keptPerVault } from '../../sync/vaults/kept-per-vault.ts';
import { usagePerVault } from '../../sync/vaults/usage-per-vault.ts';
import { noDevDocGrams } from './no-dev-doc-grams.ts';
import { rowSums } from './row-sums.ts';
import { taskVersions } from './task-versions.ts';

/** Of a step that changes no row. */
const NO_ROWS = { tables: [], check: () => [], piece: () => undefined };
/** 2: the data file stores its schema number. */
const numbered: Migration = { to: 2, what: 'the schema of the data file', ...NO_ROWS };
/** 10: files can be stored as chunks, which earlier versions cannot read. */
const chunked: Migration = { to: 10, what: 'large files are stored as chunks', ...NO_ROWS };

export const migrations: readonly Migration[] = [
  numbered,
  usagePerVault,
  usagePerAccount,
  keptPerVault,
  taskVersions,
  groupedBlobs,
  rowSums,
  noDevDocGrams,
  chunked,
  countedChunks,
];

/** The schema that this version reads and writes. */
export const SCHEMA: number = migrations.length + 1;
