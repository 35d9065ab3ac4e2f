/** Defines the importer of the process that owns the data folder, and a stand-in until it is ready. */
import { Refusal } from '../common/fault.ts';
import type { QuotaBytes } from '../quotas/quotas.ts';
import type { ImportedAccount } from './protocol.ts';

export interface ImportRequest {
  /** Absolute path of the archive. */
  readonly folder: string;
  /** Undefined: the email in the archive. */
  readonly email?: string | undefined;
  /** Quotas of the new account, in bytes; the hub's for each that is missing. */
  readonly quotas?: Partial<QuotaBytes> | undefined;
}

export interface ImportProgress {
  /** Receives the number of bytes read so far, and the total. */
  readonly tell: (done: number, total: number) => void;
  /** Aborts the import. */
  readonly signal: AbortSignal;
}

export interface Importer {
  run(request: ImportRequest, progress: ImportProgress): Promise<ImportedAccount>;
  /** Aborts a running import. Resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Stands in for the importer until it is opened. Until then, `run` throws Refusal `starting`. */
export class ImportDoor implements Importer {
  #importer: Importer | undefined;

  open(importer: Importer): void {
    this.#importer = importer;
  }

  run(request: ImportRequest, progress: ImportProgress): Promise<ImportedAccount> {
    if (this.#importer === undefined) throw new Refusal({ kind: 'starting' });
    return this.#importer.run(request, progress);
  }

  async close(): Promise<void> {
    await this.#importer?.close();
  }
}
