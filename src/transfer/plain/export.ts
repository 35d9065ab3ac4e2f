/** Exports one account as plain files: the archive of one moment, turned into what a person opens. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { requireNewFolder } from '../../archive/writer.ts';
import { makeFolders } from '../../store/data-file/make-folders.ts';
import { type ExportOptions, exportAccount, toldToOperator } from '../export.ts';
import { type PlainSummary, writePlain } from './write.ts';

/**
 * Writes the folder, which must not exist. While it works, it needs room for the archive beside it. Throws StartError and
 * then leaves nothing. The files are not flushed to the disk one by one, as those of an archive are.
 */
export async function exportPlain(options: ExportOptions): Promise<PlainSummary> {
  const folder = resolve(options.folder);
  requireNewFolder(options.folder);
  let partial: string | undefined;
  try {
    makeFolders(dirname(folder));
    partial = mkdtempSync(`${folder}.partial-`);
    const [archive, plain] = [join(partial, 'archive'), join(partial, 'plain')];
    let archived = 0;
    const onBytes = (bytes: number): void => {
      archived = bytes;
      options.onBytes(bytes);
    };
    exportAccount({ ...options, folder: archive, onBytes });
    mkdirSync(plain, { mode: 0o700 });
    const summary = await writePlain({
      archive,
      folder: plain,
      onBytes: (bytes) => options.onBytes(archived + bytes),
    });
    renameSync(plain, folder);
    return summary;
  } catch (error) {
    throw toldToOperator(error, options.folder);
  } finally {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
  }
}
