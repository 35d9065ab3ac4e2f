/** Owns how an import is asked of the process that has the data folder, before and after it can do one. */
import { Refusal } from '../common/fault.ts';
import type { ImportedAccount } from './protocol.ts';

export interface ImportRequest {
  /** The whole path of the archive. */
  readonly folder: string;
  /** Undefined: the one that the archive names. */
  readonly email: string | undefined;
}

export interface ImportProgress {
  /** Told how many bytes were read, and of how many. */
  readonly tell: (done: number, total: number) => void;
  /** Breaks the import off. */
  readonly signal: AbortSignal;
}

export interface Importer {
  run(request: ImportRequest, progress: ImportProgress): Promise<ImportedAccount>;
  /** Breaks off what runs; resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** Stands for the importer until there is one. */
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
