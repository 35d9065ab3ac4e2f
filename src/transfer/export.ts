/** Exports one account as an archive, with the part of every capability from one snapshot, while the service runs. */
import { accounts, emails } from '../accounts/records.ts';
import { normalizeEmail } from '../accounts/rules.ts';
import type { ArchiveManifest } from '../archive/format.ts';
import { ArchiveWriter } from '../archive/writer.ts';
import { StartError } from '../common/start-error.ts';
import { systemReason } from '../common/system-reason.ts';
import { version } from '../common/version.ts';
import { exportDocs } from '../dev-docs/portable.ts';
import { exportHandoffs } from '../handoffs/portable.ts';
import { exportMirror } from '../mirror/portable.ts';
import { exportPapers } from '../papers/portable.ts';
import type { Store } from '../store/store.ts';
import { exportVaults } from '../sync/portable/export.ts';
import { categoryExists } from '../tasks/categories.ts';
import { exportTasks } from '../tasks/portable.ts';

export interface ExportOptions {
  /** The data file, opened for reading. */
  readonly store: Store;
  readonly email: string;
  /** Destination of the archive; must not exist. */
  readonly folder: string;
  /** Receives the number of bytes written so far. */
  readonly onBytes: (bytes: number) => void;
  readonly now: () => number;
}

/** Writes the archive and returns its manifest. Throws StartError and then leaves nothing of the archive. */
export function exportAccount({ store, email, folder, onBytes, now }: ExportOptions): ArchiveManifest {
  const snapshot = store.snapshot();
  try {
    const accountId = snapshot.get(emails, [normalizeEmail(email)])?.account_id;
    const account = accountId === undefined ? undefined : snapshot.get(accounts, [accountId]);
    if (accountId === undefined || account === undefined) throw new StartError('no account has this email.');
    const archive = openArchive(folder, onBytes);
    try {
      const hasCategory = (id: number) => categoryExists(snapshot, accountId, id);
      archive.section('tasks', (write) => exportTasks(snapshot, accountId, write));
      archive.section('papers', (write) => exportPapers(snapshot, accountId, hasCategory, write));
      archive.section('docs', (write) => exportDocs(snapshot, accountId, write));
      archive.section('handoffs', (write) => exportHandoffs(snapshot, accountId, write));
      archive.section('mirror', (write) => exportMirror(snapshot, accountId, archive, write));
      archive.section('vaults', (write) => exportVaults(snapshot, accountId, archive, write));
      const { email: address, name, created_at, time_zone } = account;
      return archive.finish({
        cairn_version: version,
        made_at: new Date(now()).toISOString(),
        account: { email: address, name, created_at, ...(time_zone == null ? {} : { time_zone }) },
      });
    } catch (error) {
      archive.abandon();
      throw toldToOperator(error);
    }
  } finally {
    snapshot.close();
  }
}

function openArchive(folder: string, onBytes: (bytes: number) => void): ArchiveWriter {
  try {
    return new ArchiveWriter(folder, onBytes);
  } catch (error) {
    throw toldToOperator(error);
  }
}

/**
 * Turns an error of a folder or a disk into one for the operator. Any other error is a broken assumption and is
 * returned unchanged.
 */
function toldToOperator(error: unknown): unknown {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  return isOfSystem ? new StartError(`the archive could not be written: ${systemReason(error)}`) : error;
}
