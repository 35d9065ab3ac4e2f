/** Makes archives of accounts for download: each in a separate folder below the data folder, removed after the download. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import { Refusal } from '../../common/fault.ts';
import { StartError } from '../../common/start-error.ts';
import type { Config } from '../../config.ts';
import { limits } from '../../limits/service.ts';
import type { AccountExports, ExportedBy, MadeExport } from '../../web/settings/export.tsx';
import { exportInThread } from './in-thread.ts';

const FOLDER = 'exports';

interface ExportsOptions {
  readonly config: Pick<Config, 'dataFolder' | 'mapBytes'>;
  readonly actors: ActorRegistry;
  readonly now: () => number;
}

export class Exports implements AccountExports {
  readonly #options: ExportsOptions;
  /** Accounts whose archive is being made or sent. */
  readonly #open = new Set<string>();
  #count = 0;

  constructor(options: ExportsOptions) {
    this.#options = options;
  }

  /** Throws Refusal `overloaded` while another archive is open, or when the disk is too full. */
  async make({ accountId, email, plain, source }: ExportedBy): Promise<MadeExport> {
    const { config, actors, now } = this.#options;
    if (this.#open.has(accountId) || this.#open.size >= limits.exportsAtOnce) {
      throw busy('another export is being made or downloaded');
    }
    const root = join(config.dataFolder, FOLDER);
    const isFirst = this.#open.size === 0;
    this.#open.add(accountId);
    this.#count += 1;
    const folder = join(root, `${process.pid}-${this.#count}`);
    const remove = async () => {
      await rm(folder, { recursive: true, force: true });
      this.#open.delete(accountId);
    };
    try {
      // What a stopped hub left behind.
      if (isFirst) await rm(root, { recursive: true, force: true });
      await mkdir(root, { recursive: true, mode: 0o700 });
      const { dataFolder, mapBytes } = config;
      const job = { dataFolder, mapBytes, email, folder, named: folder, plain, besideService: true };
      await exportInThread(job, () => undefined);
      await actors.account(accountId).ask((batch) => {
        noteAct(batch, accountId, { atMs: now(), act: 'account_exported', source });
      });
      return { folder, remove };
    } catch (error) {
      await remove();
      throw error instanceof StartError ? busy(error.message) : error;
    }
  }
}

function busy(what: string): Refusal {
  return new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.exportRetrySeconds });
}
