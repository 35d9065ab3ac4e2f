/** Writes the archive of one account in a separate thread, from a snapshot of the data file. Started by `exports.ts`. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { StartError } from '../../common/start-error.ts';
import { limits } from '../../limits/service.ts';
import { yieldToMainThread } from '../../pool/thread-priority.ts';
import { Store } from '../../store/store.ts';
import { exportAccount } from '../../transfer/export.ts';
import { exportPlain } from '../../transfer/plain/export.ts';
import { allTables } from '../tables.ts';

export interface ExportJob {
  readonly dataFolder: string;
  readonly mapBytes: number;
  readonly email: string;
  /** Destination; must not exist. */
  readonly folder: string;
  /** As plain files; otherwise as an archive. */
  readonly plain: boolean;
}

/** `reason`: why nothing was written, for a person; null: unexpected. */
export type ExportOutcome = { readonly ok: true } | { readonly ok: false; readonly reason: string | null };

yieldToMainThread();
const { dataFolder, mapBytes, email, folder, plain } = workerData as ExportJob;
const store = new Store({ folder: dataFolder, tables: allTables, mapBytes, readOnly: true });
let checkedBytes = 0;

/** Throws StartError when the archive would take the space that the hub needs to write. */
function leaveSpace(bytes: number): void {
  if (bytes - checkedBytes < limits.exportCheckBytes) return;
  checkedBytes = bytes;
  const { bavail, bsize } = statfsSync(dirname(folder));
  if (bavail * bsize < limits.exportFreeBytesMin)
    throw new StartError('the disk of the hub has too little free space.');
}

async function run(): Promise<ExportOutcome> {
  try {
    leaveSpace(limits.exportCheckBytes);
    const options = { store, email, folder, onBytes: leaveSpace, now: Date.now };
    if (plain) await exportPlain(options);
    else exportAccount(options);
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: error instanceof StartError ? error.message : null };
  }
}

const outcome = await run();
await store.close();
parentPort?.postMessage(outcome);
