/**
 * Copies a data file while it may be written: one snapshot, flushed, opened and checked before the folder gets its
 * name. It never overwrites a file, and removes a copy that fails its check.
 */
import { chmodSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../../common/start-error.ts';
import { isNoRoom, systemReason } from '../../common/system-reason.ts';
import { version } from '../../common/version.ts';
import { limits } from '../../limits/service.ts';
import { BrokenFile } from '../data-file/check.ts';
import { reserveLocks } from '../data-file/lock-file.ts';
import { makeFolders } from '../data-file/make-folders.ts';
import { DATA_FILE } from '../data-file/names.ts';
import { syncPath } from '../data-file/sync-path.ts';
import { freeBytes } from '../failure.ts';
import { epochOf } from '../meta/epoch.ts';
import { schemaOf } from '../meta/schema.ts';
import { writeMasterKey } from '../sealing/master-key.ts';
import { Store } from '../store.ts';
import type { AnyTable } from '../table.ts';
import { dataFileOf, keepChanges } from './chain.ts';
import { COPY_MANIFEST_FILE, type CopyManifest, hashFile } from './manifest.ts';
import { BROKEN_FILE, MAKER_FILE, makePartial, removeLeftovers } from './partial.ts';
import { salvage } from './salvage.ts';

export interface CopyOptions {
  /** Copies the data file as it is to a path. */
  readonly copyTo: (path: string) => Promise<void>;
  /** Size of the data file. */
  readonly bytes: number;
  readonly tables: readonly AnyTable[];
  /** The target folder; must not exist. */
  readonly folder: string;
  /**
   * Checks the copy. Throws BrokenFile for broken pages, and StartError to discard the copy; the returned fields are
   * added to the manifest.
   */
  readonly check: (copy: Store) => Partial<CopyManifest>;
  /** Keeps a copy with broken pages, as a new data file with every row that can be read. */
  readonly salvages: boolean;
  /** An earlier backup in the same parent folder: only differences from it are kept. Undefined: a full backup. */
  readonly since?: string | undefined;
  /** Included in the backup when set. */
  readonly masterKey: Uint8Array | undefined;
  readonly mapBytes: number;
  readonly now: () => number;
  /** Runs `work` while a file shows other processes that this one is at work. */
  readonly marked?: <T>(file: string, work: () => Promise<T>) => Promise<T>;
  /** Whether no process can be making the copy in this unfinished folder any more. */
  readonly isLeft?: (folder: string) => boolean;
}

/**
 * Makes the copy and returns its manifest. First removes what interrupted ones have left next to it. Throws StartError on
 * failure, after removing the partial copy.
 */
export async function makeCopy(options: CopyOptions): Promise<CopyManifest> {
  const folder = resolve(options.folder);
  if (existsSync(folder)) {
    throw new StartError(`${options.folder} exists already, and a backup overwrites nothing; name a new folder.`);
  }
  let partial: string | undefined;
  try {
    makeFolders(dirname(folder));
    // Taken before the snapshot: the copy contains every write acknowledged until then.
    const madeAt = new Date(options.now()).toISOString();
    const { marked = async (_file, work) => await work(), isLeft = () => false } = options;
    const making = makePartial(folder);
    partial = making;
    removeLeftovers(dirname(folder), statSync(making).mtimeMs, (one) => one !== making && isLeft(one));
    const whole = await marked(join(partial, MAKER_FILE), async () => {
      await options.copyTo(join(making, DATA_FILE));
      return { ...(await checkOrSalvage(making, options)), made_at: madeAt };
    });
    const manifest = options.since === undefined ? whole : { ...whole, ...keepChanges(partial, options.since) };
    if (options.masterKey !== undefined) writeMasterKey(partial, options.masterKey);
    writeFileSync(join(partial, COPY_MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 });
    rmSync(join(partial, MAKER_FILE), { force: true });
    for (const path of [join(partial, COPY_MANIFEST_FILE), join(partial, dataFileOf(manifest)), partial])
      syncPath(path);
    renameSync(partial, folder);
    syncPath(dirname(folder));
    return manifest;
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
    if (error instanceof StartError) throw error;
    const room = isNoRoom(error) ? roomFor(options) : '';
    throw new StartError(`the backup could not be written to ${options.folder}: ${systemReason(error)}${room}`);
  }
}

/** What a full disk lacks; empty when there is not even room for the folder of the backups. */
function roomFor({ folder, bytes }: CopyOptions): string {
  const parent = dirname(resolve(folder));
  if (!existsSync(parent)) return '';
  return ` The backup needs more than ${bytes} bytes, and ${freeBytes(parent)} are free.`;
}

/** Checks the copy. One with broken pages is replaced by what can be read of it, if `salvages` allows it. */
async function checkOrSalvage(folder: string, options: CopyOptions): Promise<Omit<CopyManifest, 'made_at'>> {
  try {
    return await checkCopy(folder, options);
  } catch (error) {
    if (!(error instanceof BrokenFile && options.salvages)) throw error;
    const path = join(folder, DATA_FILE);
    const broken = join(folder, BROKEN_FILE);
    renameSync(path, broken);
    const lost = await salvage({ ...options, from: broken, to: path });
    rmSync(broken);
    const manifest = await checkCopy(folder, options);
    const damaged = [...lost, ...(manifest.damaged ?? [])].slice(0, limits.damagedListedMax);
    return { ...manifest, damaged, lost_pages: lost.length };
  }
}

/** Opens the copy as a separate store, checks it, and returns its manifest. */
async function checkCopy(
  folder: string,
  { tables, check, masterKey, mapBytes }: CopyOptions,
): Promise<Omit<CopyManifest, 'made_at'>> {
  const path = join(folder, DATA_FILE);
  chmodSync(path, 0o600);
  // Flush before reading back, so that the check covers the bytes on disk.
  syncPath(path);
  reserveLocks(path);
  const copy = new Store({ folder, tables, mapBytes, readOnly: true });
  try {
    const more = check(copy);
    const schema = schemaOf(copy);
    return {
      format: 1,
      cairn_version: version,
      // Versions from before schemas had numbers reject a manifest with one.
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
