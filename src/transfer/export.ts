/** Exports one account as an archive, with the part of every capability from one snapshot, while the service runs. */
import { type AccountRecord, accounts, rowOfEmail } from '../accounts/records.ts';
import { normalizeEmail } from '../accounts/rules.ts';
import { changeRecord, exportActivity } from '../activity/portable.ts';
import type { ArchiveManifest } from '../archive/format.ts';
import { instantUpTo, nothingElse } from '../archive/records.ts';
import { ArchiveWriter } from '../archive/writer.ts';
import { StartError } from '../common/start-error.ts';
import { systemReason } from '../common/system-reason.ts';
import { version } from '../common/version.ts';
import { devDocKind } from '../documents/dev-docs/kind.ts';
import { handoffKind } from '../documents/handoffs/kind.ts';
import { paperKind } from '../documents/papers/kind.ts';
import { exportDocuments } from '../documents/portable.ts';
import { blobRecord, exportMirror } from '../mirror/portable.ts';
import { keyText } from '../store/row-sums.ts';
import type { Store } from '../store/store.ts';
import type { Snapshot } from '../store/table.ts';
import { exportVaults } from '../sync/portable/export.ts';
import { vaultRecordSchema } from '../sync/portable/records.ts';
import { categoryExists } from '../tasks/categories.ts';
import { exportTasks, taskRecord } from '../tasks/portable.ts';

export interface ExportOptions {
  /** The data file, opened for reading. */
  readonly store: Store;
  readonly email: string;
  /** Where it is written; must not exist. */
  readonly folder: string;
  /** How an error names the destination. */
  readonly named: string;
  /** Receives the number of bytes written so far. */
  readonly onBytes: (bytes: number) => void;
  readonly now: () => number;
}

/** Writes the archive and returns its manifest. Throws StartError and then leaves nothing of the archive. */
export function exportAccount({ store, email, folder, named, onBytes, now }: ExportOptions): ArchiveManifest {
  const unreadable = new Set<string>();
  const snapshot = store.snapshot((table, key) =>
    unreadable.add(`${table} ${keyText(key)}: the record cannot be read`),
  );
  try {
    const address = normalizeEmail(email);
    const accountId = rowOfEmail(snapshot, address)?.account_id ?? accountWith(snapshot, address);
    const stored = accountId === undefined ? undefined : snapshot.get(accounts, [accountId]);
    if (accountId === undefined || (stored === undefined && unreadable.size === 0)) {
      throw new StartError('no account has this email; `cairn account list` shows all.');
    }
    const madeAt = new Date(now()).toISOString();
    // A damaged row of the account is told as missing; the rest of the account can still be had.
    const account: AccountRecord = stored ?? { email: address, name: null, created_at: madeAt };
    const archive = openArchive(folder, named, onBytes);
    try {
      const hasCategory = (id: number) => categoryExists(snapshot, accountId, id);
      // A clock that is wrong now, or was, must not keep a record out of the archive.
      const instant = instantUpTo(Number.POSITIVE_INFINITY);
      archive.section('tasks', taskRecord(instant), (output) => exportTasks(snapshot, accountId, output));
      exportDocuments(paperKind, snapshot, accountId, hasCategory, archive);
      exportDocuments(devDocKind, snapshot, accountId, hasCategory, archive);
      exportDocuments(handoffKind, snapshot, accountId, hasCategory, archive);
      archive.section('mirror', blobRecord(instant), (output) => exportMirror(snapshot, accountId, archive, output));
      archive.section('vaults', vaultRecordSchema(Number.POSITIVE_INFINITY), (output) =>
        exportVaults(snapshot, accountId, archive, output),
      );
      archive.section('activity', changeRecord(instant), (output) => exportActivity(snapshot, accountId, output));
      for (const one of unreadable) archive.noteMissing(one);
      const { email: own, name, created_at, time_zone, password_hash: _, ...rest } = account;
      nothingElse(rest);
      return archive.finish({
        cairn_version: version,
        made_at: madeAt,
        account: { email: own, name, created_at, ...(time_zone == null ? {} : { time_zone }) },
      });
    } catch (error) {
      archive.abandon();
      throw toldToOperator(error, named);
    }
  } finally {
    snapshot.close();
  }
}

/** The account with an email whose own row, by email, is damaged. */
function accountWith(snapshot: Snapshot, email: string): string | undefined {
  for (const { key, value } of snapshot.entries(accounts, { prefix: [] })) if (value.email === email) return key[0];
  return undefined;
}

function openArchive(folder: string, named: string, onBytes: (bytes: number) => void): ArchiveWriter {
  try {
    return new ArchiveWriter(folder, onBytes);
  } catch (error) {
    throw toldToOperator(error, named);
  }
}

/**
 * Turns an error of a folder or a disk into one for the operator. Any other error is a broken assumption and is
 * returned unchanged.
 */
export function toldToOperator(error: unknown, folder: string): unknown {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  return isOfSystem ? new StartError(`the archive could not be written to ${folder}: ${systemReason(error)}`) : error;
}
