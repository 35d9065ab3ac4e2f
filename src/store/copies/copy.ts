/**
 * Copies a data file beside whoever writes to it: one snapshot, flushed, opened and checked before the folder gets its name.
 * It overwrites nothing, and keeps nothing of a copy that fails its check.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { systemReason } from '../../common/system-reason.ts';
import { version } from '../../common/version.ts';
import { DATA_FILE } from '../data-file/name.ts';
import { schemaOf } from '../data-file/schema.ts';
import { syncPath } from '../data-file/sync-path.ts';
import { epochOf } from '../epoch.ts';
import { writeMasterKey } from '../sealing/master-key.ts';
import { Store } from '../store.ts';
import type { AnyTable } from '../table.ts';
import { dataFileOf, keepChanges } from './chain.ts';
import { COPY_MANIFEST_FILE, type CopyManifest, hashFile } from './manifest.ts';

export interface CopyOptions {
  /** The data file, opened for reading. */
  readonly store: Store;
  readonly tables: readonly AnyTable[];
  /** Where the copy goes; must not exist. */
  readonly folder: string;
  /** Throws StartError when the copy is not worth keeping; what it returns goes into the manifest. */
  readonly check: (copy: Store) => Partial<CopyManifest>;
  /** A backup in the same folder: only what differs from it is kept. Undefined: everything. */
  readonly since?: string | undefined;
  /** Put beside the data when given. */
  readonly masterKey: Uint8Array | undefined;
  readonly mapBytes: number;
  readonly now: () => number;
}

/** Makes the copy and returns its manifest. Throws StartError, and then nothing of it is left. */
export async function makeCopy(options: CopyOptions): Promise<CopyManifest> {
  const folder = resolve(options.folder);
  if (existsSync(folder)) {
    throw new StartError(`${options.folder} exists already, and a backup overwrites nothing; name a new folder.`);
  }
  let partial: string | undefined;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    // From before the moment that is copied: whatever was answered until then is in it.
    const madeAt = new Date(options.now()).toISOString();
    partial = mkdtempSync(`${folder}.partial-`);
    await options.store.copyTo(join(partial, DATA_FILE));
    const whole = { ...(await checkCopy(partial, options)), made_at: madeAt };
    const manifest = options.since === undefined ? whole : { ...whole, ...keepChanges(partial, options.since) };
    if (options.masterKey !== undefined) writeMasterKey(partial, options.masterKey);
    writeFileSync(join(partial, COPY_MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 });
    for (const path of [join(partial, COPY_MANIFEST_FILE), join(partial, dataFileOf(manifest)), partial])
      syncPath(path);
    renameSync(partial, folder);
    syncPath(dirname(folder));
    return manifest;
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
    if (error instanceof StartError) throw error;
    throw new StartError(`the backup could not be written: ${systemReason(error)}`);
  }
}

/** Opens the copy as a store of its own, checks it, and describes it. */
async function checkCopy(
  folder: string,
  { tables, check, masterKey, mapBytes }: CopyOptions,
): Promise<Omit<CopyManifest, 'made_at'>> {
  const path = join(folder, DATA_FILE);
  chmodSync(path, 0o600);
  // On disk before it is read back: what is checked is what is kept.
  syncPath(path);
  const copy = new Store({ folder, tables, mapBytes, readOnly: true });
  try {
    const more = check(copy);
    const schema = schemaOf(copy);
    return {
      format: 1,
      cairn_version: version,
      // A version from before schemas had numbers reads a manifest without one.
      ...(schema === 1 ? {} : { schema }),
      epoch: epochOf(copy) ?? null,
      bytes: statSync(path).size,
      sha256: await hashFile(path),
      master_key: masterKey === undefined ? 'not included' : 'included',
      tables: Object.fromEntries(copy.stats().tables.map(({ name, rows }) => [name, rows])),
      ...more,
    };
  } finally {
    await copy.close();
    rmSync(`${path}-lock`, { force: true });
  }
}
