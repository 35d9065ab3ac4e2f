/** Makes a backup beside the running service: a copy of the data file, checked as a whole before it gets its name. */
import { StartError } from '../../common/start-error.ts';
import { allTables } from '../../compose/core.ts';
import { checkIntegrity } from '../../compose/verify.ts';
import { type CopyOptions, makeCopy } from '../../store/copies/copy.ts';
import type { Manifest } from '../../store/copies/manifest.ts';
import type { Sealer } from '../../store/sealing/seal.ts';

export interface BackupOptions extends Omit<CopyOptions, 'tables' | 'check'> {
  readonly sealer: Sealer;
}

/** Makes the backup and returns its manifest. Throws StartError, and then nothing of it is left. */
export async function makeBackup({ sealer, ...options }: BackupOptions): Promise<Manifest> {
  return await makeCopy({
    ...options,
    tables: allTables,
    check(copy) {
      const { ok, problems } = checkIntegrity(copy, sealer);
      if (!ok) {
        throw new StartError(
          `the data does not verify (${problems.length} problems, the first: ${problems[0]}), so nothing was kept; ` +
            'keep the backups that you have and run cairn verify.',
        );
      }
      return {};
    },
  });
}
