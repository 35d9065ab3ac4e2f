/**
 * Makes a backup while the service runs: a fully checked copy of the data file, with any damage listed in the manifest.
 */
import { dirname, join } from 'node:path';
import { isMakerGone, withMark } from '../../client/file-lock.ts';
import { removedOnSignal } from '../../client/staging.ts';
import { StartError } from '../../common/start-error.ts';
import { withChangedPages } from '../../compose/changed-pages.ts';
import { allTables } from '../../compose/tables.ts';
import { checkIntegrity } from '../../compose/verify.ts';
import { limits } from '../../limits/service.ts';
import { type CopyOptions, makeCopy } from '../../store/copies/copy.ts';
import type { CopyManifest } from '../../store/copies/manifest.ts';
import { MAKER_FILE } from '../../store/copies/partial.ts';
import { BrokenFile } from '../../store/data-file/check.ts';
import type { ChangedPage } from '../../store/data-file/page-sums.ts';
import { isMasterKey } from '../../store/sealing/key-check.ts';
import type { Sealer } from '../../store/sealing/seal.ts';
import type { Store } from '../../store/store.ts';

const SET_ASIDE = ' (set aside)';

/** True when a backup has damage that the operator has not set aside. */
export const hasNewDamage = ({ damaged = [] }: CopyManifest): boolean =>
  damaged.some((one) => !one.endsWith(SET_ASIDE));

export interface BackupOptions extends Omit<CopyOptions, 'tables' | 'check' | 'marked'> {
  /** The sealer of the copy. */
  readonly sealerOf: (copy: Store) => Sealer;
  /** Pages of the original whose bytes have changed: the copy has the same bytes. */
  readonly changedPages?: () => readonly ChangedPage[];
}

/** Makes the backup and returns its manifest. Throws StartError on failure, and leaves nothing on disk. */
export async function makeBackup({
  sealerOf,
  changedPages = () => [],
  copyTo,
  isLeft = () => false,
  ...options
}: BackupOptions): Promise<CopyManifest> {
  return await makeCopy({
    ...options,
    tables: allTables,
    marked: withMark,
    isLeft: (folder) => isLeft(folder) || isMakerGone(join(folder, MAKER_FILE)),
    // Meanwhile a signal is handled at once. What ends the check, which can take minutes, leaves the folder to the next backup.
    copyTo: (path) => removedOnSignal(dirname(path), () => copyTo(path)),
    check(copy) {
      const [broken, ...more] = copy.damagedPages();
      if (broken !== undefined) {
        throw new BrokenFile(
          `the data file is damaged (${more.length + 1} pages, the first: ${broken}), so nothing was kept; ` +
            'keep the backups that you have, and restore the newest into an empty folder (`cairn restore`).',
        );
      }
      const sealer = sealerOf(copy);
      if (!isMasterKey(copy, sealer)) {
        throw new StartError(
          'the data was written under another master key, so nothing was kept; set CAIRN_MASTER_KEY or put the right master.key back.',
        );
      }
      const report = withChangedPages(checkIntegrity(copy, sealer, []), changedPages());
      const { problems, set_aside: aside } = report;
      // A backup with damaged rows is better than none: everything else in it is intact.
      const damaged = [...problems, ...aside.map((one) => `${one}${SET_ASIDE}`)];
      return damaged.length === 0 ? {} : { damaged: damaged.slice(0, limits.damagedListedMax) };
    },
  });
}
