/** Finds the folder that a new file belongs into: one that is there under another spelling is the one that is meant. */
import { limits } from '../../limits/service.ts';
import type { VaultPath } from '../../sync/log/paths.ts';
import type { VaultOf } from '../../sync/log/reader.ts';
import { foldCase } from '../../text/fold-case.ts';
import type { Shelves } from './thing.ts';

/**
 * The path of a new file. Its folders are spelled as those that are there, unless one has exactly its spelling: names that
 * differ only in case are one folder on Windows and macOS.
 */
export async function inExistingFolder(
  { reader, reading }: Pick<Shelves['sync'], 'reader' | 'reading'>,
  { accountId, vaultId }: VaultOf,
  { path }: VaultPath,
): Promise<string> {
  const folders = path.split('/').slice(0, -1);
  while (folders.length > 0 && reader.childrenOf(vaultId, foldCase(folders.join('/'))) === 0) folders.pop();
  if (folders.length === 0) return path;
  const folder = folders.join('/');
  let spelled: string | undefined;
  let looked = 0;
  for await (const { file } of reading.fileLists.walk({ accountId, vaultId }, `${foldCase(folder)}/`)) {
    if (file.path.startsWith(`${folder}/`) && !file.deleted) return path;
    if (!file.deleted) spelled ??= file.path.split('/').slice(0, folders.length).join('/');
    looked += 1;
    if (looked === limits.listTurnRows) break;
  }
  return spelled === undefined ? path : spelled + path.slice(folder.length);
}

/** Tells in which folder a file is that was to be in one of another spelling. */
export function folderNote(path: string): string {
  return `in the folder ${path.slice(0, path.lastIndexOf('/') + 1)}, which is there already; its name differs only in case`;
}
