/** Makes archives of accounts for download: each in a separate folder below the data folder, removed after the download. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ActorRegistry } from '../../actors/registry.ts';
import { noteAct } from '../../audit/note.ts';
import { Refusal } from '../../common/fault.ts';
import type { Config } from '../../config.ts';
import { limits } from '../../limits/service.ts';
import type { AccountExports, ExportedBy, MadeExport } from '../../web/settings/export.tsx';
import type { ExportJob, ExportOutcome } from './export-thread.ts';

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
      const outcome = await runThread({ ...config, email, folder, plain });
      if (!outcome.ok && outcome.reason !== null) throw busy(outcome.reason);
      if (!outcome.ok) throw new Error('an export failed');
      await actors.account(accountId).ask((batch) => {
        noteAct(batch, accountId, { atMs: now(), act: 'account_exported', source });
      });
      return { folder, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}

function busy(what: string): Refusal {
  return new Refusal({ kind: 'overloaded', what, retryAfterSeconds: limits.exportRetrySeconds });
}

function runThread({ dataFolder, mapBytes, email, folder, plain }: ExportJob): Promise<ExportOutcome> {
  const workerData: ExportJob = { dataFolder, mapBytes, email, folder, plain };
  const worker = new Worker(new URL('./export-thread.js', import.meta.url), { workerData, name: 'export' });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread of an export ended')));
  });
}
