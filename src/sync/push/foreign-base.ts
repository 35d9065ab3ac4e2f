/** Finds out whether a hash unknown to a path is the current one of another file, which only a mix-up explains. */
import { setImmediate } from 'node:timers/promises';
import { limits } from '../../limits/service.ts';
import type { Store } from '../../store/store.ts';
import { files } from '../log/records.ts';

/** True when another current file has this hash. Walks a bounded number of files in short turns, outside a decision. */
export async function isOfOtherFile(store: Store, vaultId: string, folded: string, sha: string): Promise<boolean> {
  let beyond: string | undefined;
  for (let looked = 0; looked < limits.foreignBaseFilesMax; looked += limits.foreignBaseTurnFiles) {
    const from = beyond === undefined ? {} : { beyond };
    const rows = store.range(files, { prefix: [vaultId], limit: limits.foreignBaseTurnFiles, ...from });
    for (const { key, value } of rows) {
      if (key[1] !== folded && !value.deleted && (value.sha256 === sha || value.git_sha === sha)) return true;
    }
    beyond = rows.at(-1)?.key[1];
    if (rows.length < limits.foreignBaseTurnFiles) return false;
    await setImmediate();
  }
  return false;
}
