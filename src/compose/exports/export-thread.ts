/** Writes the export of one account in a separate thread, from a snapshot of the data file. Started by `in-thread.ts`. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { ArchiveManifest } from '../../archive/format.ts';
import { Refusal } from '../../common/fault.ts';
import { StartError } from '../../common/start-error.ts';
import { limits } from '../../limits/service.ts';
import { yieldToMainThread } from '../../pool/thread-priority.ts';
import { Store } from '../../store/store.ts';
import { exportAccount } from '../../transfer/export.ts';
import { exportPlain } from '../../transfer/plain/export.ts';
import type { PlainSummary } from '../../transfer/plain/write.ts';
import { allTables } from '../tables.ts';

export interface ExportJob {
  readonly dataFolder: string;
  readonly mapBytes: number;
  readonly email: string;
  /** Destination; must not exist. */
  readonly folder: string;
  /** How an error names the destination. */
  readonly named: string;
  /** As plain files; otherwise as an archive. */
  readonly plain: boolean;
  /** A service in this process serves everybody meanwhile, and writes to the same disk. */
  readonly besideService: boolean;
}

export type MadeFiles =
  | { readonly kind: 'archive'; readonly manifest: ArchiveManifest }
  | { readonly kind: 'plain'; readonly summary: PlainSummary };

/** What the thread posts: bytes written so far, then the outcome. `reason`: why nothing was written, for a person. */
export type ExportMessage = { readonly bytes: number } | { readonly made: MadeFiles } | { readonly reason: string };

const { dataFolder, mapBytes, email, folder, named, plain, besideService } = workerData as ExportJob;
let checkedBytes = 0;

/** Throws StartError when the archive would take the space that the hub needs to write. */
function leaveSpace(bytes: number): void {
  if (bytes - checkedBytes < limits.exportCheckBytes) return;
  checkedBytes = bytes;
  const { bavail, bsize } = statfsSync(dirname(folder));
  if (bavail * bsize < limits.exportFreeBytesMin)
    throw new StartError('the disk of the hub has too little free space.');
}

function onBytes(bytes: number): void {
  if (besideService) leaveSpace(bytes);
  tell({ bytes });
}

const tell = (message: ExportMessage): void => parentPort?.postMessage(message);

async function make(store: Store): Promise<MadeFiles> {
  const options = { store, email, folder, named, onBytes, now: Date.now };
  if (plain) return { kind: 'plain', summary: await exportPlain(options) };
  return { kind: 'archive', manifest: exportAccount(options) };
}

async function run(): Promise<ExportMessage> {
  const store = new Store({ folder: dataFolder, tables: allTables, mapBytes, readOnly: true });
  try {
    if (besideService) leaveSpace(limits.exportCheckBytes);
    return { made: await make(store) };
  } catch (error) {
    if (error instanceof StartError || error instanceof Refusal) return { reason: error.message };
    throw error;
  } finally {
    await store.close();
  }
}

if (besideService) yieldToMainThread();
tell(await run());
