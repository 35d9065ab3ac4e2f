/** Exports one account as plain files: the archive of one moment, turned into what a person opens. */
import { mkdirSync, rmSync } from 'node:fs';
import { type ExportOptions, exportAccount, toldToOperator } from '../export.ts';
import { type PlainSummary, writePlain } from './write.ts';

/**
 * Writes the folder, which must not exist. While it works, the archive is beside it (`FOLDER.archive`). Throws StartError and then
 * leaves nothing. The files are not flushed to the disk one by one, as those of an archive are.
 */
export async function exportPlain(options: ExportOptions): Promise<PlainSummary> {
  const { folder } = options;
  const archive = `${folder}.archive`;
  let archived = 0;
  const onBytes = (bytes: number): void => {
    archived = bytes;
    options.onBytes(bytes);
  };
  try {
    exportAccount({ ...options, folder: archive, onBytes });
    mkdirSync(folder, { mode: 0o700 });
    return await writePlain({ archive, folder, onBytes: (bytes) => options.onBytes(archived + bytes) });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw toldToOperator(error, options.named);
  } finally {
    rmSync(archive, { recursive: true, force: true });
  }
}
