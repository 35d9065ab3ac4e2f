/**
 * Makes a backup beside the running service: one snapshot of the data file, opened and checked as a whole before it gets
 * its name. It refuses to overwrite, and keeps nothing of a copy that does not verify.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { version } from '../../common/version.ts';
import { allTables } from '../../compose/core.ts';
import { checkIntegrity } from '../../compose/verify.ts';
import { epochOf } from '../../store/epoch.ts';
import { writeMasterKey } from '../../store/sealing/master-key.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import { DATA_FILE, Store } from '../../store/store.ts';
import { syncPath } from '../../store/sync-path.ts';
import { hashFile, MANIFEST_FILE, type Manifest } from './manifest.ts';

export interface BackupOptions {
  /** The data file, opened for reading. */
  readonly store: Store;
  readonly sealer: Sealer;
  /** Where the backup goes; must not exist. */
  readonly folder: string;
  /** Put beside the data when given. */
  readonly masterKey: Uint8Array | undefined;
  readonly mapBytes: number;
  readonly now: () => number;
}

/** Makes the backup and gives its manifest. Throws StartError, and then nothing of it is left. */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const folder = resolve(options.folder);
  if (existsSync(folder)) {
    throw new StartError(`${options.folder} exists already, and a backup overwrites nothing; name a new folder.`);
  }
  let partial: string | undefined;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    partial = mkdtempSync(`${folder}.partial-`);
    await options.store.copyTo(join(partial, DATA_FILE));
    const manifest = await checkCopy(partial, options);
    if (options.masterKey !== undefined) writeMasterKey(partial, options.masterKey);
    writeFileSync(join(partial, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 });
    for (const path of [join(partial, MANIFEST_FILE), join(partial, DATA_FILE), partial]) syncPath(path);
    renameSync(partial, folder);
    syncPath(dirname(folder));
    return manifest;
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
    if (error instanceof StartError) throw error;
    throw new StartError(`the backup could not be written: ${(error as Error).message}`);
  }
}

/** Opens the copy as a store of its own, checks all of it, and says what it holds. */
async function checkCopy(folder: string, { sealer, masterKey, mapBytes, now }: BackupOptions): Promise<Manifest> {
  const path = join(folder, DATA_FILE);
  chmodSync(path, 0o600);
  // On disk before it is read back: what is checked is what is kept.
  syncPath(path);
  const copy = new Store({ folder, tables: allTables, mapBytes, readOnly: true });
  try {
    const { ok, problems } = checkIntegrity(copy, sealer);
    if (!ok) {
      throw new StartError(
        `the data does not verify (${problems.length} problems, the first: ${problems[0]}), so nothing was kept; ` +
          'keep the backups that you have and run cairn verify.',
      );
    }
    return {
      format: 1,
      cairn_version: version,
      made_at: new Date(now()).toISOString(),
      epoch: epochOf(copy) ?? null,
      bytes: statSync(path).size,
      sha256: await hashFile(path),
      master_key: masterKey === undefined ? 'not included' : 'included',
      tables: Object.fromEntries(copy.stats().tables.map(({ name, rows }) => [name, rows])),
    };
  } finally {
    await copy.close();
    rmSync(`${path}-lock`, { force: true });
  }
}
